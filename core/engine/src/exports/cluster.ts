/** @sluice/engine/cluster: several worker processes: the supervisor, and a worker. */

export type {
  ProcessHandlers,
  SupervisorHost,
  WorkerEnd,
  WorkerHost,
} from "../cluster/process-host.ts";
export { StartRefused } from "../cluster/spawn-worker.ts";
export { supervise, type Supervised } from "../cluster/supervise.ts";
export { REPORT_FD } from "../cluster/worker-messages.ts";
export { runWorker } from "../cluster/worker.ts";
