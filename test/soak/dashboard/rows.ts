/** Check 13: Requests and Spend over many rows of 90 days. */

import { type PastRow, storeRows } from "../../dashboard/support/stored-rows.ts";
import type { Goals } from "../store/goals.ts";
import { startProofGateway } from "./gateway.ts";
import { makeTeams } from "./keys.ts";
import { insertKeys } from "./made-keys.ts";
import { measurePaths } from "./measure.ts";

const DAY_MS = 86_400_000;
const DAYS = 90;
const KEYS = 500;
const TEAMS = 40;
const MODELS = ["gpt-4o", "gpt-4o-mini", "gpt-4.1", "text-embedding-3-small"];
const GOAL_MS = 300;

/** Writes the rows by the store, and asks for what the screens ask. */
export async function proveRows(goals: Goals, count: number): Promise<void> {
  const beganMs = performance.now();
  await using gateway = await startProofGateway({
    prepare: (folder) => storeRows(folder, rowsOf(count)),
  });
  const seconds = ((performance.now() - beganMs) / 1_000).toFixed(0);
  console.log("check 13: Requests and Spend over many rows");
  console.log(`rows: ${count} of ${DAYS} days in ${seconds} s`);
  await makeTeams(gateway);
  insertKeys(gateway, KEYS, (index) => `key_service-${index}`);
  const day = (ago: number): string =>
    new Date(Date.now() - ago * DAY_MS).toISOString().slice(0, 10);
  const period = `from=${day(DAYS - 1)}&to=${day(0)}&bucket=day`;
  await measurePaths(gateway, goals, GOAL_MS, {
    "Requests, opened": "/requests?limit=50",
    "Requests, failed ones": "/requests?limit=50&status=failed",
    "Requests, of a model": "/requests?limit=50&model=gpt-4.1",
    "Requests, of a key": "/requests?limit=50&key=key_service-77",
    "Spend of 90 days, by key": `/spend/summary?${period}&group_by=key`,
    "Spend of 90 days, by team": `/spend/summary?${period}&group_by=team`,
    "Spend of 90 days, by model": `/spend/summary?${period}&group_by=model`,
    "Spend of 90 days, of a team by key": `/spend/summary?${period}&team_id=t7&group_by=key`,
  });
}

function* rowsOf(count: number): Generator<PastRow> {
  const beginMs = Date.now() - DAYS * DAY_MS;
  const stepMs = (DAYS * DAY_MS) / count;
  for (let index = 0; index < count; index += 1) {
    // A few keys have most of the requests.
    const key = Math.floor(((index * 7_919) % 1_000) ** 2 / (1_000_000 / KEYS));
    yield {
      index,
      atMs: Math.floor(beginMs + index * stepMs),
      key: `service-${key}`,
      team: `t${key % TEAMS}`,
      model: MODELS[index % MODELS.length] ?? "",
      dollars: ((index % 97) + 1) / 10_000,
      isFailed: index % 50 === 0,
    };
  }
}
