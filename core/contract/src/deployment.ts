/** Deployments: the health and the load of the targets that the gateway calls. */

import type { SharedValue } from "./host.ts";
import type { Operation } from "./model.ts";

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

/** Tokens of a deployment with a limit of them a minute, in this process. */
export interface DeploymentTokens {
  /** Tokens a minute. */
  readonly limit: number;
  /** Tokens that running requests have reserved. */
  readonly reserved: number;
  /** Tokens that ended requests used within the last minute. */
  readonly spent: number;
}

/** Something that happened to a deployment. */
export interface DeploymentEvent {
  /** Milliseconds since 1970. */
  readonly atMs: number;
  /** `failed`: an attempt that counts against it. */
  readonly kind: "failed" | "ejected" | "recovered" | "reset" | "held" | "released";
  /** The called model and operation; `undefined` where all are meant. */
  readonly model: string | undefined;
  readonly operation: Operation | undefined;
  /** The error code of a failure, and of the failure that ejected. */
  readonly code: string | undefined;
  /** The request of a failure. */
  readonly requestId: string | undefined;
  /** The end of an ejection or of a hold, milliseconds since 1970. */
  readonly untilMs: number | undefined;
}

/** The state of one deployment. Counts are since the start of the process. */
export interface DeploymentView {
  /** The target's id. */
  readonly id: string;
  readonly provider: string;
  readonly model: string;
  /**
   * `open`: ejected. `half_open`: the next request, or the running one, decides whether the
   * deployment is used again. A deployment with several models or operations has the worst of their
   * states.
   */
  readonly breaker: "closed" | "open" | "half_open";
  /** The next attempt at an ejected deployment, in milliseconds since 1970. */
  readonly ejectedUntilMs: number | undefined;
  /**
   * Whether the upstream refuses the credential. All models that the credential reaches are then
   * ejected.
   */
  readonly isCredentialRefused: boolean;
  /** Until when it is held: no request is sent to it. `undefined`: it is not held. */
  readonly heldUntilMs: number | undefined;
  /** The unhealthy models, at most 20. */
  readonly models: readonly ModelHealth[];
  /** Ejections since the start. */
  readonly ejections: number;
  readonly consecutiveFailures: number;
  readonly inFlight: number;
  readonly queued: number;
  /** `undefined` without a limit. */
  readonly tokens: DeploymentTokens | undefined;
  /**
   * Moving average of the time to first content, in milliseconds; `undefined` before the first one.
   */
  readonly latencyMs: number | undefined;
  readonly successes: number;
  readonly failures: number;
  /**
   * Attempts without a verdict on the deployment: the client left, or the upstream refused the
   * request.
   */
  readonly others: number;
}

/** The deployments that at least one generation uses. */
export interface DeploymentRegistry extends SharedValue {
  /** The state of each deployment, in the order of first use. */
  list(): readonly DeploymentView[];
  /**
   * Marks a deployment healthy: its models, and the credential that calls them. Returns false when
   * there is no such deployment.
   */
  reset(id: string): boolean;
  /**
   * Sends no request to a deployment until a time, milliseconds since 1970; `undefined` ends that
   * before. Requests under way go on. Returns false when there is no such deployment.
   */
  hold(id: string, untilMs: number | undefined): boolean;
  /** What happened to a deployment, the newest first, at most 20. */
  events(id: string): readonly DeploymentEvent[];
  close(): void;
}
