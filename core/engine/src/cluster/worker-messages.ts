/** The messages between the supervisor and its workers. */

import type { CanaryEnd, CanaryVerdict } from "../generation/rollout/canary/canary.ts";
import type { RollbackNotice } from "../generation/rollout/state/model.ts";
import type { Running } from "./generation-agreement.ts";
import type { StateAnswer, StateQuestion } from "./shared-state-rpc.ts";

/** From a worker. */
export type FromWorker =
  /** The worker receives messages from now on. */
  | { readonly type: "hears" }
  /** The worker serves. */
  | {
      readonly type: "ready";
      readonly publicUrl: string;
      readonly adminUrl: string;
      /** The longest time that a shutdown of the worker takes, in milliseconds. */
      readonly endsWithinMs: number;
      /** Time without a heartbeat after which the worker is replaced, in milliseconds; 0: never. */
      readonly hungTimeoutMs: number;
      /** A digest of the code that the worker runs. */
      readonly code: string;
    }
  /** This generation serves from now on. */
  | ({ readonly type: "runs" } & Running)
  /** The worker cannot run the generation that the supervisor chose. */
  | { readonly type: "not-followed"; readonly target: Running; readonly reasons: readonly string[] }
  /** Heartbeat: its event loop runs. */
  | { readonly type: "beat" }
  /** The worker cannot start, and ends. */
  | { readonly type: "failed"; readonly reasons: readonly string[] }
  /** The worker has finished with an outbox: its rows are in the store, or stay in the outbox. */
  | { readonly type: "adopted"; readonly outbox: string }
  /** The worker has dropped its cached keys and teams. */
  | { readonly type: "forgot"; readonly id: number }
  /** The worker's verdict on a canary. */
  | { readonly type: "verdict"; readonly verdict: CanaryVerdict }
  /** The worker rolled back a generation that failed. */
  | { readonly type: "rolled-back"; readonly notice: RollbackNotice }
  | StateQuestion;

/** To a worker. */
export type ToWorker =
  /** Read the configuration again. */
  | { readonly type: "reload" }
  /** Leave new connections to the other workers, finish the requests under way, and end. */
  | { readonly type: "retire" }
  /** Refuse new requests, finish those under way, and end. */
  | { readonly type: "stop" }
  /** Move the rows of an orphaned outbox. */
  | { readonly type: "adopt"; readonly outbox: string }
  /** Keys or teams have changed: drop the cached ones. */
  | { readonly type: "forget"; readonly id: number }
  /** End a canary: the verdict of all workers. */
  | {
      readonly type: "end-canary";
      readonly digest: string;
      readonly end: CanaryEnd;
      readonly reason: string;
    }
  /** Run what another worker runs. */
  | { readonly type: "follow"; readonly target: Running }
  /** Roll back the contents that failed in another worker. */
  | { readonly type: "roll-back"; readonly notice: RollbackNotice }
  | StateAnswer;

/** The assignment of a worker, as JSON in the variable `ASSIGNMENT_VARIABLE`. */
export interface Assignment {
  /** Its number, unique among the running workers. */
  readonly number: number;
  /** Whether it starts with the generation of the others instead of the files. */
  readonly mustBeNewest: boolean;
  /** The digest of what the others run, where it is known. */
  readonly othersRun?: string | undefined;
  /** The settings of the supervisor. A worker that reads other values does not start. */
  readonly fixed: FixedSettings;
}

/** Settings by their names in YAML, as texts to compare. */
export type FixedSettings = Readonly<Record<string, string>>;

/**
 * The file descriptor of a worker on which it reports the code that blocks its event loop: lines of
 * JSON.
 */
export const REPORT_FD = 4;

export const ASSIGNMENT_VARIABLE = "SLUICE_WORKER";
