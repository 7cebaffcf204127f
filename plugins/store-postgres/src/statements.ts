/** Statements of a pool: single ones, and transactions with a line of the audit. */

import { AUDIT_START, type AuditEntry, auditText } from "@sluice/contract";
import { type Schema, StatementDriver, type StatementResult } from "@sluice/store-sql";
import {
  type CompiledQuery,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from "kysely";
import { hash } from "node:crypto";
import type { Pool, PoolClient, QueryResult } from "pg";
import { changesWithin, type OwnChanges, type PostgresChanges } from "./changes/log.ts";
import { inTransaction } from "./transaction.ts";
import { answered } from "./unavailable.ts";

type Statement = Pick<CompiledQuery, "sql" | "parameters">;

/** A query builder whose statements are run by a function. */
export function builderOf(
  run: (sql: string, parameters: readonly unknown[]) => Promise<StatementResult>,
): Kysely<Schema> {
  return new Kysely<Schema>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new StatementDriver(run),
      createIntrospector: (database) => new PostgresIntrospector(database),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
}

/** Runs a statement on any connection. */
export async function runOn(
  pool: Pick<Pool, "query">,
  { sql, parameters }: Statement,
): Promise<StatementResult> {
  return resultOf(await answered(() => pool.query(sql, [...parameters])));
}

/** Where changes of records are written, and what learns of them. */
export interface RecordWrites {
  readonly pool: Pool;
  readonly changes: Pick<PostgresChanges, "wrote">;
}

/**
 * Runs statements in one transaction. `audit` is the line of the audit about what they change;
 * without a change there is none. No statement at all: the line alone. What changed is passed on,
 * also where the end of the transaction is not known.
 */
export async function transact(
  { pool, changes }: RecordWrites,
  statements: readonly Statement[],
  audit?: AuditEntry,
): Promise<readonly StatementResult[]> {
  let written: OwnChanges = { changes: [] };
  const work = (): Promise<readonly StatementResult[]> =>
    inTransaction(pool, async (client) => {
      const results: StatementResult[] = [];
      for (const { sql, parameters } of statements) {
        // oxlint-disable-next-line no-await-in-loop -- one connection.
        results.push(resultOf(await client.query(sql, [...parameters])));
      }
      const isChange = results.some(({ rows, changes: count = 0 }) => rows.length + count > 0);
      if (isChange) written = await changesWithin(client);
      if (audit !== undefined && (isChange || statements.length === 0)) await append(client, audit);
      return results;
    });
  try {
    return await answered(work);
  } finally {
    changes.wrote(written);
  }
}

/** The advisory lock of those who append to the audit: a line follows the last one of all. */
const AUDIT_LOCK = 7_358_004;

async function append(client: PoolClient, entry: AuditEntry): Promise<void> {
  await client.query(`select pg_advisory_xact_lock(${AUDIT_LOCK})`);
  const { rows } = await client.query<{ readonly seq: number; readonly hash: string }>(
    "select seq, hash from audit order by seq desc limit 1",
  );
  const [head] = rows;
  const line = { ...entry, seq: (head?.seq ?? 0) + 1, prevHash: head?.hash ?? AUDIT_START };
  await client.query(
    `insert into audit (seq, at_ms, actor, user_id, session, address, action, object, organization_id, team_id,
       outcome, before, after, request_id, prev_hash, hash)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`,
    [
      line.seq,
      line.atMs,
      line.actor,
      line.userId,
      line.session,
      line.address,
      line.action,
      line.object,
      line.organizationId,
      line.teamId,
      line.outcome,
      line.before === null ? null : JSON.stringify(line.before),
      line.after === null ? null : JSON.stringify(line.after),
      line.requestId,
      line.prevHash,
      hash("sha256", auditText(line), "hex"),
    ],
  );
}

function resultOf({ rows, rowCount, fields }: QueryResult): StatementResult {
  return { rows, changes: fields.length > 0 ? undefined : (rowCount ?? 0) };
}
