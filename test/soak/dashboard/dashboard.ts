/**
 * `npm run proof:dashboard`: figures of the dashboard's acceptance checks. Parts: `keys` (check 12),
 * `rows` (check 13), `traffic` (check 14) and `vitals` (check 22). `-- --only rows` runs some of
 * them; `-- --keys 10000`, `-- --rows 100000` and `-- --rounds 2` make them smaller. Linux only.
 * Ends with 1 when a goal is missed.
 */

import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";
import { createGoals } from "../store/goals.ts";
import { proveKeys } from "./keys.ts";
import { proveRows } from "./rows.ts";
import { proveTraffic } from "./traffic.ts";

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "keys,rows,traffic,vitals" },
    keys: { type: "string", default: "10000,1000000" },
    rows: { type: "string", default: "1000000" },
    rounds: { type: "string", default: "8" },
  },
});
const only = values.only.split(",");
const goals = createGoals();
if (only.includes("keys"))
  for (const keys of values.keys.split(",")) await proveKeys(goals, Number(keys));
if (only.includes("rows")) await proveRows(goals, Number(values.rows));
if (only.includes("traffic")) await proveTraffic(goals, Number(values.rounds));
if (only.includes("vitals")) {
  // In a process of its own: what runs in a browser has other types.
  const script = new URL("../../dashboard/vitals.ts", import.meta.url).pathname;
  const { status } = spawnSync(process.execPath, [script], { stdio: "inherit" });
  goals.atMost("screens on a slow processor, the exit code", status ?? 1, 0, "");
}
console.log(goals.missed.length === 0 ? "every goal is met" : `missed: ${goals.missed.join("; ")}`);
process.exitCode = goals.missed.length === 0 ? 0 : 1;
