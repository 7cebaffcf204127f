/** Check 12: lists of many keys. */

import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createHash } from "node:crypto";
import type { Goals } from "../store/goals.ts";
import { type ProofGateway, startProofGateway } from "./gateway.ts";
import { measurePaths } from "./measure.ts";

const TEAMS = 50;
const GOAL_MS = 100;

/** Makes the keys in the file of the store, and asks for lists of them. */
export async function proveKeys(goals: Goals, count: number): Promise<void> {
  await using gateway = await startProofGateway();
  await makeTeams(gateway);
  const beganMs = performance.now();
  insertKeys(gateway, count, (index) => `key_${digestOf(index).slice(0, 12)}`);
  const seconds = ((performance.now() - beganMs) / 1_000).toFixed(0);
  console.log("check 12: lists of many keys");
  console.log(`keys: ${count} in ${seconds} s`);
  const first = await gateway.ask("/key/list?limit=50");
  const { next_cursor: cursor } = JSON.parse(first.text) as { readonly next_cursor: string | null };
  if (cursor === null) throw new Error("There is no next page.");
  await measurePaths(gateway, goals, GOAL_MS, {
    [`${count} keys, opened`]: "/key/list?limit=50",
    [`${count} keys, the next page`]: `/key/list?limit=50&cursor=${encodeURIComponent(cursor)}`,
    [`${count} keys, searched`]: `/key/list?limit=50&search=service-${Math.floor(count / 3)}`,
    [`${count} keys, searched by a beginning of all`]: "/key/list?limit=50&search=service",
    [`${count} keys, searched in vain`]: "/key/list?limit=50&search=nothing-like-this",
    [`${count} keys, by name`]: "/key/list?limit=50&sort=alias",
    [`${count} keys, oldest first`]: "/key/list?limit=50&sort=oldest",
    [`${count} keys, blocked ones`]: "/key/list?limit=50&status=blocked",
    [`${count} keys, of a team`]: "/key/list?limit=50&team_id=t7",
    [`${count} keys, active ones of a team by name`]:
      "/key/list?limit=50&team_id=t7&status=active&sort=alias",
  });
}

/** Makes the teams of the keys. */
export async function makeTeams({ adminUrl, masterKey }: ProofGateway): Promise<void> {
  for (let team = 0; team < TEAMS; team += 1) {
    const response = await fetch(`${adminUrl}/team/new`, {
      method: "POST",
      headers: { authorization: `Bearer ${masterKey}`, "content-type": "application/json" },
      body: JSON.stringify({ team_id: `t${team}` }),
    });
    if (!response.ok) throw new Error(`POST /team/new: ${response.status}`);
  }
}

const digestOf = (index: number): string =>
  createHash("sha256").update(String(index)).digest("hex");

/** Inserts keys beside the gateway, in one transaction. */
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
    // One in 5,000 is blocked.
    const isBlocked = index % 5_000 === 7 ? 1 : 0;
    insert.run(
      idOf(index),
      digest,
      digest.slice(-4),
      `service-${index}`,
      `t${index % TEAMS}`,
      isBlocked,
      beganMs + index,
    );
  }
  database.exec("commit");
  database.close();
}
