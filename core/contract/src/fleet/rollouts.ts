/** Rollouts of a fleet: contents that all instances are to run, and what became of them at each. */

import type { JsonObject } from "../json.ts";

/**
 * Where the contents are: `files`, each instance reads its own; `store`, the rollout has them. The
 * two are counted apart.
 */
export type RolloutSource = "files" | "store";

/**
 * `all`: they serve all keys. `canary`: they serve a share of the keys. A canary ends once:
 * `promoted`, they serve all keys, or `returned`, they serve none.
 */
export type RolloutStage = "all" | "canary" | "promoted" | "returned";

/** A canary of a fleet. */
export interface RolloutPlan {
  /** The share of the keys, between 0 and 1. */
  readonly share: number;
  readonly forMs: number;
  /** The minimum number of requests for a verdict. */
  readonly minRequests: number;
  /** The bounds of which either one, exceeded, ends the canary; `null`: it has none. */
  readonly errorRate: number | null;
  readonly p99Ms: number | null;
}

/** A rollout as it begins. */
export interface RolloutDraft {
  readonly source: RolloutSource;
  readonly kind: "reload" | "push" | "rollback";
  /** The digest of the file contents. */
  readonly contents: string;
  /** The files by their names, where the source is the store. */
  readonly files: Readonly<Record<string, string>> | null;
  /** The rollout whose contents a rollback applies again. */
  readonly contentsOf: number | null;
  /** The rollout whose contents served all keys when this one began; `null` without any. */
  readonly base: number | null;
  /** Absent: it begins with all keys. */
  readonly plan: RolloutPlan | null;
  /** Whether the operator overruled the shrink guard. */
  readonly isForced: boolean;
  readonly author: string | null;
  /** The instance that was asked. */
  readonly instance: string;
  /** Why the gateway began it by itself; `null`: a caller asked. */
  readonly reason: string | null;
  /** What it changes: the worst effects, as sentences. */
  readonly effects: readonly string[];
  /** How long instances look for the contents, or how long the canary runs. */
  readonly endsAfterMs: number;
}

/** A stored rollout, without its files. Times are of the store's clock. */
export interface RolloutRecord extends Omit<RolloutDraft, "files" | "endsAfterMs"> {
  /** From 1; each rollout of a source has the next number. */
  readonly id: number;
  readonly stage: RolloutStage;
  readonly atMs: number;
  readonly endsAtMs: number;
  /** Why a canary ended, or why the gateway began it by itself. */
  readonly reason: string | null;
}

/** The newest rollout of a source, `undefined` before the first. */
export interface NewestRollout {
  readonly nowMs: number;
  readonly record: RolloutRecord | undefined;
}

/** What became of a rollout in one process. */
export interface RolloutReport {
  readonly instance: string;
  /** Of the process, made at its start: a restarted process is another one. */
  readonly process: string;
  /** `waiting`: the files of this instance have other contents. */
  readonly outcome: "applied" | "canary" | "returned" | "refused" | "waiting";
  readonly reasons: readonly string[];
  /** What the requests of a canary say about it. */
  readonly evidence: JsonObject | null;
}

/** Stored rollouts. */
export interface RolloutStore {
  newest(source: RolloutSource): Promise<NewestRollout>;
  /** The newest first. */
  list(source: RolloutSource, limit: number): Promise<readonly RolloutRecord[]>;
  find(source: RolloutSource, id: number): Promise<RolloutRecord | undefined>;
  /** The files of a rollout; `undefined` where it has none, or does not exist. */
  files(id: number): Promise<Readonly<Record<string, string>> | undefined>;
  /**
   * Begins a rollout after the one with this id, 0 before the first. A canary that runs is returned
   * with it. Of several callers with one `after`, a single one begins; the others get `undefined`.
   */
  begin(draft: RolloutDraft, after: number): Promise<number | undefined>;
  /** Ends a canary. Of several callers a single one ends it; the others get false. */
  decide(
    source: RolloutSource,
    id: number,
    stage: "promoted" | "returned",
    reason: string,
  ): Promise<boolean>;
  /** Writes what became of a rollout in a process over its last report. */
  report(source: RolloutSource, id: number, report: RolloutReport): Promise<void>;
  reports(source: RolloutSource, id: number): Promise<readonly RolloutReport[]>;
  /** Deletes old rollouts, all but the newest `keep` and the one that serves. */
  prune(source: RolloutSource, keep: number): Promise<void>;
}
