/** What the supervising process and its workers tell each other. */

import type { CanaryEnd, CanaryVerdict } from "../generation/canary.ts";
import type { WentBack } from "../generation/going-back.ts";
import type { Running } from "./agreement.ts";
import type { StateAnswer, StateQuestion } from "../resources/hosted-state.ts";

/** From a worker. */
export type FromWorker =
  /** Messages reach it from now on. */
  | { readonly type: "hears" }
  /** It serves. */
  | {
      readonly type: "ready";
      readonly publicUrl: string;
      readonly adminUrl: string;
      /** How long it may serve and finish what is under way once it shall end. */
      readonly endsWithinMs: number;
      /** How long it may be silent before it is replaced; 0: for ever. */
      readonly hungTimeoutMs: number;
      /** A digest of the code that it runs. */
      readonly code: string;
    }
  /** This generation serves from now on. */
  | ({ readonly type: "runs" } & Running)
  /** It cannot run what it was told to follow. */
  | { readonly type: "not-followed"; readonly target: Running; readonly reasons: readonly string[] }
  /** Its event loop turns. */
  | { readonly type: "beat" }
  /** It cannot start; it ends. */
  | { readonly type: "failed"; readonly reasons: readonly string[] }
  /** The rows of an outbox are moved, or stay where they are. */
  | { readonly type: "adopted"; readonly outbox: string }
  /** It believes nothing any more of what it had looked up about keys. */
  | { readonly type: "forgot"; readonly id: number }
  /** What it has to say of a canary. */
  | { readonly type: "verdict"; readonly verdict: CanaryVerdict }
  /** A generation failed here, and was left. */
  | { readonly type: "went-back"; readonly wentBack: WentBack }
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
  /** Keys or teams have changed: look them up anew. */
  | { readonly type: "forget"; readonly id: number }
  /** End a canary: that is what all came to. */
  | { readonly type: "end-canary"; readonly digest: string; readonly end: CanaryEnd; readonly reason: string }
  /** Run what another worker runs. */
  | { readonly type: "follow"; readonly target: Running }
  /** Leave the contents that failed elsewhere. */
  | { readonly type: "go-back"; readonly wentBack: WentBack }
  | StateAnswer;

/** What a worker is told before it starts, as JSON in the variable `ASSIGNMENT_VARIABLE`. */
export interface Assignment {
  /** Its number, one of a kind among those that live. */
  readonly number: number;
  /** Whether it starts with what the others run, not with the files. */
  readonly mustBeNewest: boolean;
  /** The digest of what the others run, where it is known. */
  readonly othersRun?: string | undefined;
  /** Settings that the supervising process goes by. A worker that reads others does not start. */
  readonly fixed: FixedSettings;
}

/** Settings by their names in YAML, as texts to compare. */
export type FixedSettings = Readonly<Record<string, string>>;

/** The file descriptor of a worker at which the supervising process reads what code holds its event loop: lines of JSON. */
export const REPORT_FD = 4;

export const ASSIGNMENT_VARIABLE = "SLUICE_WORKER";
