/** Applying a configuration: how it is asked for, what rehearses it, and how it ended. */

import type { Finding } from "../config/finding.ts";
import type { CanaryEnd, CanaryPlan } from "./canary.ts";
import type { Generation } from "./generation.ts";

/** How an attempt to apply a configuration ended. */
export type ApplyOutcome = "applied" | "unchanged" | "refused" | "superseded" | "canary" | CanaryEnd;

/** An attempt to apply a configuration. */
export interface ApplyResult {
  readonly outcome: ApplyOutcome;
  readonly atMs: number;
  /** The candidate's digest, `undefined` when it could not be read. */
  readonly digest: string | undefined;
  /** The generation that the attempt made, or found running with the same contents; else `undefined`. */
  readonly generation: number | undefined;
  readonly findings: readonly Finding[];
  /** Why a canary ended. */
  readonly reason?: string;
}

/** How a snapshot is applied. */
export interface ApplyOptions {
  /** The candidate's digest: what it takes away is meant. */
  readonly force?: string | undefined;
  /** It begins with a share of the keys. */
  readonly canary?: CanaryPlan | undefined;
  /** Contents that run already, renewed: when nothing is new in them, a canary goes on. */
  readonly isRenewal?: boolean;
  /** The contents have served before: their tests passed then, and whoever goes back to them is in a hurry. */
  readonly hasServed?: boolean;
}

/** Runs the tests of a candidate before it serves anybody. Findings refuse it; an aborted signal ends the run early. */
export type Rehearse = (candidate: Generation, signal: AbortSignal) => Promise<readonly Finding[]>;

/** What a manager goes by. */
export interface ManagerOptions {
  /** That of the newest generation before this process. */
  readonly lastNumber?: number;
  /** Without it no pipeline is tested. */
  readonly rehearse?: Rehearse;
  /** Numbers a candidate where several workers must agree, by its digest and the last number here. */
  readonly numberOf?: (digest: string, last: number) => number;
}
