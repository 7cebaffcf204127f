/** The options of the supervisor and the state of each worker process. */

import type { Worker } from "node:cluster";
import type { Log, StateDriver } from "@sluice/contract";
import type { StateHost } from "./shared-state-rpc.ts";
import type { BlockReport } from "../telemetry/block-report.ts";
import type { SupervisorHost } from "./process-host.ts";
import type { Member } from "./spawn-worker.ts";
import type { FixedSettings } from "./worker-messages.ts";

/** Options of the supervisor. */
export interface SupervisorOptions {
  /** The number of serving workers. */
  readonly size: number;
  readonly log: Log;
  /** The shared state in this process's memory; `undefined` where a server holds it. */
  readonly state: StateDriver | undefined;
  readonly fixed: FixedSettings;
  /** The module of a worker process. */
  readonly entry: SupervisorHost["worker"];
}

/** The state of a worker process. */
export interface WorkerState {
  readonly number: number;
  readonly startedMs: number;
  readonly host: StateHost | undefined;
  member?: Member;
  /** The code that blocked its event loop at the last report. */
  blocked?: BlockReport;
  /** Kills it when it does not end in time. */
  deadline?: NodeJS.Timeout;
}

/** The log fields of a worker whose event loop is blocked. */
export function hungFields(
  { number, blocked }: WorkerState,
  { process: { pid } }: Worker,
  silentMs: number,
) {
  const { plugin = "unknown", at, stack } = blocked ?? {};
  return { worker: number, pid, silent_ms: Math.round(silentMs), plugin, at, stack };
}
