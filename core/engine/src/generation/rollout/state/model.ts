/**
 * What the rollout knows: its state, the events that it takes and the effects that it asks for.
 * `reduce.ts` has the transitions.
 */

import type { Finding } from "../../../config/finding.ts";
import type { ApplyOutcome } from "../outcome.ts";
import type { CanaryEnd, CanaryPlan, CanaryVerdict } from "../canary/canary.ts";
import type { RolloutFault } from "../rollout-monitor.ts";

/** A generation, as far as the rollout decides about it. */
export interface RolloutGeneration {
  readonly number: number;
  readonly snapshot: { readonly digest: string };
}

/** Contents, as far as the rollout decides about them. They are kept as long as they run. */
export interface RolloutContents {
  /** The contents run instead of the files. */
  readonly isPinned: boolean;
}

/** An edit: contents that are to be applied. */
export interface RolloutEdit<G extends RolloutGeneration> {
  readonly snapshot: { readonly digest: string };
  readonly options: {
    readonly canary?: CanaryPlan | undefined;
    /** The running contents, read again. */
    readonly isRefresh?: boolean;
    readonly contents?: RolloutContents | undefined;
    /** It replaces this generation and no other. */
    readonly replaces?: number | undefined;
    /** The number of the same contents in another worker. */
    readonly number?: number | undefined;
    readonly hasServed?: boolean;
    readonly reason?: string | undefined;
  };
  /** The live generation when the edit was asked for. */
  readonly live: G | undefined;
}

/** A generation under judgement, beside the one that serves if the verdict is against it. */
export interface Trial<G> {
  readonly generation: G;
  readonly previous: G;
}

/** A canary: it serves a share of the keys. */
export interface CanaryTrial<G, E> {
  readonly generation: G;
  readonly edit: E;
  /** This process has given its verdict, and waits for those of the others. */
  readonly hasVoted: boolean;
}

/** An automatic rollback from when it is decided until its edit is settled. */
export interface Rollback {
  readonly fault: RolloutFault;
  /** The contents that failed. Processes may number the same contents differently. */
  readonly digest: string;
  /** It was decided here: the other processes are notified when it is applied. */
  readonly isOwn: boolean;
}

/** The message of a process that rolled back to the other processes. */
export interface RollbackNotice {
  /** Of the contents that failed: processes may number the same contents differently. */
  readonly digest: string;
  /** The generation that is live again. */
  readonly previous: number;
  /** A sentence for the operator. */
  readonly reason: string;
}

/** The contents of an edit. */
export type ContentsOf<
  E extends { readonly options: { readonly contents?: RolloutContents | undefined } },
> = E["options"]["contents"] | undefined;

/** Where a rollout stands. */
export interface RolloutState<G extends RolloutGeneration, E extends RolloutEdit<G>> {
  readonly live: G | undefined;
  readonly canary: CanaryTrial<G, E> | undefined;
  /** The live generation is judged: a canary of 100 %. */
  readonly trial: Trial<G> | undefined;
  readonly rollback: Rollback | undefined;
  /** Digests that an automatic rollback has left: they are not judged again. */
  readonly failed: readonly string[];
  readonly draining: readonly G[];
  /** Edits whose contents are being read. */
  readonly readings: number;
  readonly queued: E | undefined;
  readonly making: E | undefined;
  /** The contents that serve all keys. */
  readonly running: ContentsOf<E>;
  /**
   * The contents that hold the files back: `running`, which run instead of them; or those of a
   * canary, which are the files.
   */
  readonly pinnedBy: ContentsOf<E>;
  /** Several processes decide together about a canary. */
  readonly isOneOfSeveral: boolean;
  readonly isStopped: boolean;
}

/** What happened. */
export type RolloutEvent<G, E> =
  /** The contents of an edit are being read. */
  | { readonly type: "reading" }
  /** The contents of an edit were read: it was asked for, or nothing came of it. */
  | { readonly type: "read" }
  | { readonly type: "asked"; readonly edit: E }
  /** The candidate in the making has passed its tests. */
  | { readonly type: "built"; readonly generation: G }
  /** The candidate in the making has findings, or was overtaken. */
  | {
      readonly type: "failed";
      readonly outcome: "refused" | "superseded";
      readonly findings: readonly Finding[];
    }
  /** Making the candidate threw. */
  | { readonly type: "threw"; readonly error: unknown }
  /** The requests of a canary, or its clock, have decided about it in this process. */
  | { readonly type: "verdict"; readonly verdict: CanaryVerdict }
  /** The operator ends the canary. */
  | { readonly type: "canary-ended"; readonly end: CanaryEnd; readonly reason: string }
  /** All processes have decided about the canary with these contents. */
  | {
      readonly type: "votes-counted";
      readonly digest: string;
      readonly end: CanaryEnd;
      readonly reason: string;
    }
  /** The requests of the live generation fail. */
  | { readonly type: "fault"; readonly fault: RolloutFault }
  /** Another process has rolled back. */
  | { readonly type: "noticed"; readonly notice: RollbackNotice }
  /** An automatic rollback came to no edit. */
  | { readonly type: "rollback-failed"; readonly fault: RolloutFault }
  | { readonly type: "drained"; readonly generation: G }
  | { readonly type: "stopped" };

/** What the manager does. */
export type RolloutEffect<G, E> =
  | { readonly type: "make"; readonly edit: E }
  /**
   * Ends the waits and the tests of the candidate in the making: a newer one came, or the rollout
   * stops.
   */
  | { readonly type: "overtake" }
  | {
      readonly type: "serve";
      readonly generation: G;
      readonly previous: G | undefined;
      readonly isJudged: boolean;
    }
  /**
   * Drains a generation within the drain timeout of `timeoutOf`; within that of the stop where it
   * is absent.
   */
  | { readonly type: "drain"; readonly generation: G; readonly timeoutOf?: G }
  | { readonly type: "discard"; readonly generation: G }
  | {
      readonly type: "begin-canary";
      readonly generation: G;
      readonly live: G;
      readonly plan: CanaryPlan;
    }
  | { readonly type: "stop-canary" }
  | { readonly type: "vote"; readonly verdict: CanaryVerdict }
  | CanaryEnded<G, E>
  /** The trial of the live generation is over: its requests are no measure for the next one. */
  | { readonly type: "end-trial" }
  /** Reads the contents of an earlier generation, and asks for them with `replaces`. */
  | { readonly type: "roll-back"; readonly fault: RolloutFault }
  | { readonly type: "notify"; readonly notice: RollbackNotice }
  /** Reads the files: all other processes run them. */
  | { readonly type: "read-files" }
  | Settled<E>
  | { readonly type: "reject"; readonly edit: E; readonly error: unknown };

/**
 * A canary has ended. `isReported`: the end is the result of an event of its own, not of an edit.
 */
export interface CanaryEnded<G, E> {
  readonly type: "canary-ended";
  readonly end: CanaryEnd;
  readonly generation: G;
  /** The edit that began as this canary. */
  readonly edit: E;
  readonly reason: string;
  readonly isReported: boolean;
}

/** The result of an edit. `isReported`: it is logged and counted. */
export interface Settled<E> {
  readonly type: "settle";
  readonly edit: E;
  readonly outcome: ApplyOutcome;
  readonly generation: number | undefined;
  readonly reason?: string | undefined;
  readonly findings: readonly Finding[];
  readonly isReported: boolean;
}

/** A state and the effects that lead to it. */
export interface Reduced<G extends RolloutGeneration, E extends RolloutEdit<G>> {
  readonly state: RolloutState<G, E>;
  readonly effects: readonly RolloutEffect<G, E>[];
}
