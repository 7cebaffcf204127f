/**
 * `npm run proof:store`: figures of PostgreSQL, on a server that it starts itself. Parts:
 * `revocation` (changes of keys at three processes), `cost` (CPU of a request), `writers` (3,000 rows
 * a second from three processes), `keys` (1,000,000 keys), `scale` (20,000,000 rows).
 * `-- --only scale,keys` runs some of them, `-- --rows 1000000` and `-- --minutes 1` make them
 * smaller. Ends with 1 when a goal is missed.
 */

import { parseArgs } from "node:util";
import { createGoals } from "./store/goals.ts";
import { proveCost } from "./store/cost.ts";
import { proveKeys } from "./store/keys.ts";
import { proveRevocation } from "./store/revocation.ts";
import { proveScale } from "./store/scale.ts";
import { proveWriters } from "./store/writers.ts";
import { startCluster } from "./support/postgres-cluster.ts";

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "revocation,cost,writers,keys,scale" },
    rows: { type: "string", default: "20000000" },
    minutes: { type: "string", default: "5" },
  },
});
const only = values.only.split(",");
const goals = createGoals();
const cluster = await startCluster({
  shared_buffers: "1GB",
  max_wal_size: "8GB",
  maintenance_work_mem: "256MB",
  max_connections: 200,
});
try {
  if (only.includes("revocation")) await proveRevocation(cluster, goals);
  if (only.includes("cost")) await proveCost(cluster, goals);
  if (only.includes("writers")) await proveWriters(cluster, goals, Number(values.minutes));
  if (only.includes("keys")) await proveKeys(cluster, goals);
  if (only.includes("scale")) await proveScale(cluster, goals, Number(values.rows));
} finally {
  await cluster.remove();
}
console.log(goals.missed.length === 0 ? "every goal is met" : `missed: ${goals.missed.join("; ")}`);
process.exitCode = goals.missed.length === 0 ? 0 : 1;
