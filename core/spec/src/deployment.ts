/** Deployments: how the targets are that the gateway calls. */

import type { SharedValue } from "./host.ts";
import type { Operation } from "./operation.ts";

/** The key under which the registry of deployments is shared. */
export const DEPLOYMENTS_KEY = "deployments";

/** A model behind a deployment that is ejected, for one operation. */
export interface ModelHealth {
  readonly model: string;
  readonly operation: Operation;
  readonly breaker: "closed" | "open" | "half_open";
  /** In milliseconds since 1970. */
  readonly ejectedUntilMs: number | undefined;
}

/** How a deployment is at the moment. Counts are since the start of the process. */
export interface DeploymentView {
  /** The target's id. */
  readonly id: string;
  readonly provider: string;
  readonly model: string;
  /**
   * `open`: ejected; `half_open`: the next request, or the one under way, decides whether it comes back. Of several models or
   * operations, the worst.
   */
  readonly breaker: "closed" | "open" | "half_open";
  /** The next try of an ejected deployment, in milliseconds since 1970. */
  readonly ejectedUntilMs: number | undefined;
  /** Whether the upstream refuses the credential. All models that it reaches are ejected then. */
  readonly isCredentialRefused: boolean;
  /** The models that are not healthy, 20 at most. */
  readonly models: readonly ModelHealth[];
  /** Ejections since the start. */
  readonly ejections: number;
  readonly consecutiveFailures: number;
  readonly inFlight: number;
  readonly queued: number;
  /** Moving average of the time to first content, in milliseconds; `undefined` before the first one. */
  readonly latencyMs: number | undefined;
  readonly successes: number;
  readonly failures: number;
  /** Attempts that say nothing about the deployment: clients that left, requests that it refused. */
  readonly others: number;
}

/** The deployments that some generation uses. */
export interface DeploymentRegistry extends SharedValue {
  /** How each of them is, in the order in which they came. */
  list(): readonly DeploymentView[];
  /** Makes a deployment healthy again: its models, and the credential that calls them. False when there is no such deployment. */
  reset(id: string): boolean;
  close(): void;
}
