/** Check 12: lists of many keys. */

import type { Goals } from "../store/goals.ts";
import { type ProofGateway, startProofGateway } from "./gateway.ts";
import { digestOf, insertKeys, insertKeysInPostgres, TEAMS } from "./made-keys.ts";
import { measurePaths } from "./measure.ts";

const GOAL_MS = 100;

const idOf = (index: number): string => `key_${digestOf(index).slice(0, 12)}`;

/**
 * Makes the keys in the store, and asks for lists of them. `databaseUrl`: of PostgreSQL; without it
 * the store is SQLite.
 */
export async function proveKeys(goals: Goals, count: number, databaseUrl?: string): Promise<void> {
  await using gateway = await startProofGateway(databaseUrl === undefined ? {} : { databaseUrl });
  await makeTeams(gateway);
  const beganMs = performance.now();
  if (databaseUrl === undefined) insertKeys(gateway, count, idOf);
  else await insertKeysInPostgres(databaseUrl, count, idOf);
  const seconds = ((performance.now() - beganMs) / 1_000).toFixed(0);
  const store = databaseUrl === undefined ? "SQLite" : "PostgreSQL";
  console.log(`check 12: lists of many keys in ${store}`);
  console.log(`keys: ${count} in ${seconds} s`);
  // The turns of the start are not those of lists.
  await gateway.longestTurnMs();
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
