/** The options of the supervisor, the result of a restart and the state of each worker process. */

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

/** The result of a restart. */
export interface RestartResult {
  readonly outcome: "restarted" | "refused";
  readonly replaced: number;
  readonly workers: number;
  readonly reasons: readonly string[];
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

const MIN_BACK_OFF_MS = 100;
const MAX_BACK_OFF_MS = 30_000;

/** The backoff after a number of failures in a row, in milliseconds. */
export function backOffMs(failures: number): number {
  const longest = Math.min(MAX_BACK_OFF_MS, MIN_BACK_OFF_MS * 2 ** Math.min(Math.max(0, failures - 1), 20));
  return longest * (0.5 + Math.random() / 2);
}

/** The log fields of a worker whose event loop is blocked. */
export function hungFields({ number, blocked }: WorkerState, { process: { pid } }: Worker, silentMs: number) {
  const { plugin = "unknown", at, stack } = blocked ?? {};
  return { worker: number, pid, silent_ms: Math.round(silentMs), plugin, at, stack };
}

/** Workers that still end, beyond twice the number of workers, with which a restart may begin. */
const MAX_LEAVING = 8;

/** The reason against a restart while too many workers are still ending; `undefined` when it may begin. */
export function tooManyLeaving(leaving: number, size: number): string | undefined {
  if (leaving < MAX_LEAVING + 2 * size) return undefined;
  return `${leaving} workers of earlier restarts still finish what they have under way: restart again when they have ended, at the latest after server.drain_timeout.`;
}
