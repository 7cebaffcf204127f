/** What a crew is made with, what it tells, and what it knows of each process. */

import type { Worker } from "node:cluster";
import type { Log, StateDriver } from "@sluice/spec";
import type { StateHost } from "../resources/hosted-state.ts";
import type { BlockReport } from "../telemetry/block-report.ts";
import type { Member } from "./hire.ts";
import type { FixedSettings } from "./worker-messages.ts";

/** What a crew needs. */
export interface CrewOptions {
  /** How many workers serve. */
  readonly size: number;
  readonly log: Log;
  /** The state that all of them share in this process's memory; `undefined` where a server holds it. */
  readonly state: StateDriver | undefined;
  readonly fixed: FixedSettings;
}

/** How a restart went. */
export interface RestartResult {
  readonly outcome: "restarted" | "refused";
  readonly replaced: number;
  readonly workers: number;
  readonly reasons: readonly string[];
}

/** What is known of a process, whatever it does. */
export interface Hand {
  readonly number: number;
  readonly startedMs: number;
  readonly host: StateHost | undefined;
  member?: Member;
  /** What held its event loop when it was last reported. */
  blocked?: BlockReport;
  /** Ends it when it does not end by itself. */
  deadline?: NodeJS.Timeout;
}

const MIN_BACK_OFF_MS = 100;
const MAX_BACK_OFF_MS = 30_000;

/** How long a place stays empty after so many failures in a row, in milliseconds. */
export function backOffMs(failures: number): number {
  const longest = Math.min(MAX_BACK_OFF_MS, MIN_BACK_OFF_MS * 2 ** Math.min(Math.max(0, failures - 1), 20));
  return longest * (0.5 + Math.random() / 2);
}

/** What is logged of a worker whose event loop stands still. */
export function hungFields({ number, blocked }: Hand, { process: { pid } }: Worker, silentMs: number) {
  const { plugin = "unknown", at, stack } = blocked ?? {};
  return { worker: number, pid, silent_ms: Math.round(silentMs), plugin, at, stack };
}

/** Workers on their way out, beside twice the crew's size, that a restart may find. */
const MAX_LEAVING = 8;

/** Why no restart begins while so many workers are on their way out, for a person; `undefined` when one may. */
export function crowdOf(leaving: number, size: number): string | undefined {
  if (leaving < MAX_LEAVING + 2 * size) return undefined;
  return `${leaving} workers of earlier restarts still finish what they have under way: restart again when they have ended, at the latest after server.drain_timeout.`;
}
