/** Many keys, made beside the gateway in one transaction. */

import { createHash } from "node:crypto";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Client } from "pg";
import type { ProofGateway } from "./gateway.ts";

/** The teams that keys are shared out to: `t0`, `t1` and so on. */
export const TEAMS = 50;
/** One key in so many is blocked. */
const BLOCKED = 5_000;
const AT_ONCE = 10_000;

/** SHA-256 of the number of a key, hexadecimal. */
export const digestOf = (index: number): string =>
  createHash("sha256").update(String(index)).digest("hex");

const isBlocked = (index: number): boolean => index % BLOCKED === 7;

/** Inserts keys into the file of SQLite. */
export function insertKeys(
  { dataDirectory }: ProofGateway,
  count: number,
  idOf: (index: number) => string,
): void {
  const file = join(dataDirectory, "sluice.db");
  const database = new DatabaseSync(file, { timeout: 20_000 });
  database.exec("begin immediate");
  const insert = database.prepare(
    `insert into virtual_key (id, digest, last4, alias, team_id, models, tags, metadata, guardrails, blocked, created_at_ms)
     values (?, ?, ?, ?, ?, '["gpt-4o-mini"]', '[]', '{}', '[]', ?, ?)`,
  );
  const beganMs = Date.now() - count;
  for (let index = 0; index < count; index += 1) {
    const digest = digestOf(index);
    insert.run(
      idOf(index),
      digest,
      digest.slice(-4),
      `service-${index}`,
      `t${index % TEAMS}`,
      isBlocked(index) ? 1 : 0,
      beganMs + index,
    );
  }
  database.exec("commit");
  database.close();
}

/** Inserts keys into a database of PostgreSQL. */
export async function insertKeysInPostgres(
  url: string,
  count: number,
  idOf: (index: number) => string,
): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  // Without triggers: what they check is so, and no process has looked a key up.
  await client.query("set session_replication_role = replica");
  await client.query("begin");
  const beganMs = Date.now() - count;
  for (let first = 0; first < count; first += AT_ONCE) {
    const length = Math.min(AT_ONCE, count - first);
    const numbers = Array.from({ length }, (_, index) => first + index);
    // oxlint-disable-next-line no-await-in-loop -- one connection
    await client.query(
      `insert into virtual_key (id, digest, last4, alias, team_id, models, blocked, created_at_ms)
       select id, digest, right(digest, 4), 'service-' || n, 't' || n % ${TEAMS}, '["gpt-4o-mini"]', (n % ${BLOCKED} = 7)::integer, $1::bigint + n
       from unnest($2::integer[], $3::text[], $4::text[]) made(n, id, digest)`,
      [beganMs, numbers, numbers.map(idOf), numbers.map(digestOf)],
    );
  }
  await client.query("commit");
  await client.query("vacuum analyze virtual_key");
  await client.end();
}
