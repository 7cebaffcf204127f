/** Applying a configuration: the options, the preflight and the result. */

import type { Log } from "@sluice/contract";
import { type Finding, formatFinding } from "../../config/finding.ts";
import type { Snapshot } from "../../config/snapshot.ts";
import type { Canary, CanaryPlan, CanaryVerdict } from "./canary/canary.ts";
import type { Generation } from "../generation.ts";
import type { EditContents, EditSource } from "./candidate.ts";
import type { ApplyOutcome } from "./outcome.ts";
import type { Judged, RolloutFault, RolloutMonitor } from "./rollout-monitor.ts";
import type { RollbackNotice } from "./state/model.ts";

/** An attempt to apply a configuration. */
export interface ApplyResult {
  readonly outcome: ApplyOutcome;
  readonly atMs: number;
  /** The candidate's digest, `undefined` when it could not be read. */
  readonly digest: string | undefined;
  /** The digest of the candidate's file contents, `undefined` when they could not be read. */
  readonly contents: string | undefined;
  /**
   * The generation that the attempt made, or found running with the same contents; else
   * `undefined`.
   */
  readonly generation: number | undefined;
  readonly findings: readonly Finding[];
  /** Why a canary ended, or of an automatic rollback. */
  readonly reason?: string;
  /** The author's name, as the caller gives it. */
  readonly author?: string;
}

/** Options of an apply. */
export interface ApplyOptions {
  /** The candidate's digest, which confirms its removals. */
  readonly force?: string | undefined;
  /** The generation begins with a share of the keys. */
  readonly canary?: CanaryPlan | undefined;
  /** Contents that run already, renewed: when nothing is new in them, a canary goes on. */
  readonly isRefresh?: boolean;
  /** It takes the place of this generation and of no other, and of no edit that waits. */
  readonly replaces?: number | undefined;
  /**
   * The number that the same contents have in another worker: they are applied under it, also where
   * they run already.
   */
  readonly number?: number | undefined;
  /** Why it is applied without a request. */
  readonly reason?: string | undefined;
  /** The contents have served before: their tests passed then, and a rollback must be fast. */
  readonly hasServed?: boolean;
  /** The author's name, as the caller gives it. */
  readonly author?: string | undefined;
  /** Where the contents come from, for the history. */
  readonly source?: EditSource | undefined;
  readonly contents?: EditContents | undefined;
}

/** A candidate that waits for its turn. */
export interface Waiting {
  readonly snapshot: Snapshot;
  readonly options: ApplyOptions;
  /** The live generation at the time of the request. */
  readonly live: Generation | undefined;
  readonly resolve: (result: ApplyResult) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Runs the tests of a candidate before it serves requests. Findings refuse it; an aborted signal
 * ends the run early.
 */
export type Preflight = (candidate: Generation, signal: AbortSignal) => Promise<readonly Finding[]>;

/** The result of a candidate's preflight. `isCut`: a newer candidate ended it early. */
export interface Tested {
  readonly failures: readonly Finding[];
  readonly isCut: boolean;
}

/** The status of a manager. */
export interface ManagerStatus {
  readonly live: Generation | undefined;
  readonly draining: readonly Generation[];
  readonly canary: Canary | undefined;
  /** The generation that the rollout monitor observes. */
  readonly judged: Judged | undefined;
  /** How many generations the monitor found failing. */
  readonly failing: number;
  readonly lastAttempt: ApplyResult | undefined;
  /** Attempts of this process by outcome. */
  readonly outcomes: Readonly<Record<ApplyOutcome, number>>;
}

/** Options of the manager. */
export interface ManagerOptions {
  /** The number of the newest generation before this process. */
  readonly lastNumber?: number;
  /** Without it the manager runs no tests of pipelines. */
  readonly preflight?: Preflight;
  /** Called with the generation that now serves all keys. */
  readonly onServe?: (generation: Generation) => void;
  /** Follows which generation serves all keys. */
  readonly monitor?: RolloutMonitor;
  /** Returns the number of a candidate with this digest, so that several workers agree on it. */
  readonly numberOf?: (digest: string, last: number) => number;
  /**
   * Receives verdicts on canaries where several workers decide together. `countVotes` ends the
   * canary.
   */
  readonly onVerdict?: (verdict: CanaryVerdict) => void;
  /** Receives the automatic rollbacks that this process decided and applied. */
  readonly onRollback?: ((notice: RollbackNotice) => void) | undefined;
}

/** What the rollout asks of the edits: they read contents and write the history. */
export interface EditPort {
  /** A canary that began as this edit has ended. */
  canaryEnded(result: ApplyResult, source: EditSource): void;
  /**
   * Reads the contents of an earlier generation and applies them in the place of the one that
   * fails. Rejects when it cannot.
   */
  rollBack(fault: RolloutFault): Promise<ApplyResult>;
  /** Reads the files and applies them. */
  reload(): Promise<ApplyResult>;
}

/** Maximum findings of a log line. The status has all. */
const MAX_LOGGED_FINDINGS = 20;

/** Logs how an attempt ended. `live` is the generation that serves all keys since. */
export function logResult(
  log: Log,
  { outcome, digest, generation, findings, reason, author }: ApplyResult,
  live: number | undefined,
): void {
  const fields = {
    outcome,
    digest: digest?.slice(0, 12),
    generation: live,
    ...(author !== undefined && { author }),
    ...(reason !== undefined && { reason }),
    ...(reason !== undefined && outcome !== "applied" && { canary: generation }),
    findings: findings.slice(0, MAX_LOGGED_FINDINGS).map(formatFinding),
  };
  if (outcome === "refused") log.warn("configuration refused", fields);
  else if (outcome === "returned") log.warn("canary returned", fields);
  else if (outcome === "applied" && reason !== undefined)
    log.warn("configuration rolled back by itself", fields);
  else log.info(`configuration ${outcome}`, fields);
}

/**
 * Old generations that drain at the same time. A candidate that finds so many waits until one of
 * them has closed, at the latest at its drain deadline: what is under way is not cut for the sake
 * of an edit, and edits cannot pile up without end.
 */
export const MAX_DRAINING = 8;
