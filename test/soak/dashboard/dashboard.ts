/**
 * `npm run proof:dashboard`: figures of the dashboard's acceptance checks. Parts: `keys` (check 12),
 * `rows` (check 13), `traffic` and `heap` (check 14) and `vitals` (check 22). `-- --only rows` runs
 * some of them; `-- --keys 10000`, `-- --rows 100000`, `-- --rounds 2` and `-- --minutes 3` make
 * them smaller. `-- --store postgres` has the keys in a PostgreSQL that it starts itself. Linux
 * only. Ends with 1 when a goal is missed.
 */

import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";
import { createGoals } from "../store/goals.ts";
import { startCluster } from "../support/postgres-cluster.ts";
import { proveKeys } from "./keys.ts";
import { proveRows } from "./rows.ts";
import { proveTraffic } from "./traffic.ts";

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "keys,rows,traffic,vitals,heap" },
    keys: { type: "string", default: "10000,1000000" },
    store: { type: "string", default: "sqlite" },
    rows: { type: "string", default: "1000000" },
    rounds: { type: "string", default: "8" },
    minutes: { type: "string", default: "10" },
  },
});
const only = values.only.split(",");
const goals = createGoals();
if (only.includes("keys"))
  for (const keys of values.keys.split(",")) await proveKeysIn(values.store, Number(keys));
if (only.includes("rows")) await proveRows(goals, Number(values.rows));
if (only.includes("traffic")) await proveTraffic(goals, Number(values.rounds));
// In processes of their own: what runs in a browser has other types.
if (only.includes("vitals")) proveInBrowser("screens on a slow processor", "vitals.ts");
if (only.includes("heap"))
  proveInBrowser("tabs that stay open", "tab-heap.ts", "--minutes", values.minutes);
console.log(goals.missed.length === 0 ? "every goal is met" : `missed: ${goals.missed.join("; ")}`);
process.exitCode = goals.missed.length === 0 ? 0 : 1;

async function proveKeysIn(store: string, count: number): Promise<void> {
  if (store !== "postgres") return proveKeys(goals, count);
  const cluster = await startCluster({ shared_buffers: "1GB", max_wal_size: "8GB" });
  try {
    await cluster.query("create database keys");
    await proveKeys(goals, count, cluster.url("keys"));
  } finally {
    await cluster.remove();
  }
}

function proveInBrowser(what: string, script: string, ...options: readonly string[]): void {
  const path = new URL(`../../dashboard/${script}`, import.meta.url).pathname;
  const { status } = spawnSync(process.execPath, [path, ...options], { stdio: "inherit" });
  goals.atMost(`${what}, the exit code`, status ?? 1, 0, "");
}
