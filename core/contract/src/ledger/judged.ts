/** Sums of what guardrails did, by day. They hold names of the configuration, and no text. */

/** Requests of a route of which one thing is said. */
export interface GuardrailCount {
  /** `METHOD /path` as the pipeline has it. */
  readonly route: string;
  /** Empty: the requests of the route that guardrails checked; the next three are empty too. */
  readonly guardrail: string;
  readonly direction: string;
  readonly verdict: string;
  /** `enforce`, `shadow` or `observe`. */
  readonly mode: string;
  readonly requests: number;
}

/** The sum of a UTC day. */
export interface GuardrailDay extends GuardrailCount {
  /** `2026-01-31`. */
  readonly date: string;
}

/** A question for sums of days. */
export interface GuardrailDayQuery {
  /** Whole UTC days, milliseconds since 1970, inclusive: the begin of a day. */
  readonly fromMs: number;
}
