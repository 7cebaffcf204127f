/** Deployments, as `GET /deployments` answers them. */

/** A target as the balancer sees it. */
export interface Deployment {
  readonly deployment: string;
  readonly provider: string;
  readonly model: string;
  readonly health: "healthy" | "ejected" | "recovering";
  readonly breaker: string;
  readonly ejected_until: string | null;
  readonly credential_refused: boolean;
  readonly ejected_models: readonly {
    readonly model: string;
    readonly operation: string;
    readonly breaker: string;
    readonly ejected_until: string | null;
  }[];
  readonly ejections: number;
  readonly consecutive_failures: number;
  readonly in_flight: number;
  readonly queued: number;
  readonly tokens: {
    readonly limit: number;
    readonly reserved: number;
    readonly spent: number;
  } | null;
  readonly latency_ms: number | null;
  readonly attempts: {
    readonly total: number;
    readonly success: number;
    readonly failure: number;
    readonly other: number;
  };
}
