/** What the supervising process and its workers tell each other. */

import type { StateAnswer, StateQuestion } from "../resources/hosted-state.ts";

/** From a worker. */
export type FromWorker =
  /** It serves. */
  | { readonly type: "ready"; readonly publicUrl: string; readonly adminUrl: string }
  /** It cannot start; it ends. */
  | { readonly type: "failed"; readonly reasons: readonly string[] }
  /** The rows of an outbox are moved, or stay where they are. */
  | { readonly type: "adopted"; readonly outbox: string }
  | StateQuestion;

/** To a worker. */
export type ToWorker =
  /** Read the configuration again. */
  | { readonly type: "reload" }
  /** Serve what is under way, leave what is new to others, and end. */
  | { readonly type: "retire" }
  /** Refuse what is new, finish what is under way, and end. */
  | { readonly type: "stop" }
  /** Move the rows of an outbox that nobody holds. */
  | { readonly type: "adopt"; readonly outbox: string }
  | StateAnswer;

/** The variable that tells a worker its number. */
export const WORKER_VARIABLE = "SLUICE_WORKER_NUMBER";
/** The variable that tells a worker to start with what the others run, not with the files. */
export const NEWEST_VARIABLE = "SLUICE_WORKER_NEWEST";
