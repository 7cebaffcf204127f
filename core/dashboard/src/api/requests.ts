/** The explanation of one request, as `GET /requests/{id}` answers it. */

/** One step of the pipeline. */
export interface TraceStep {
  readonly step: string;
  readonly at: string;
  readonly when: string | null;
  readonly outcome: "not reached" | "failed" | "answered" | "passed";
  readonly error: string | null;
  readonly runs: number;
  readonly ms: number | null;
  readonly decisions: readonly string[];
}

/** One upstream call. Times are milliseconds from the start of the request. */
export interface TraceAttempt {
  readonly attempt: number;
  readonly deployment: string | null;
  readonly provider: string | null;
  readonly model: string | null;
  readonly outcome: string;
  readonly status: number | null;
  readonly error: string | null;
  readonly start_ms: number | null;
  readonly first_content_ms: number | null;
  readonly end_ms: number | null;
  readonly upstream_ms: number | null;
  readonly prompt_tokens: number | null;
  readonly completion_tokens: number | null;
  readonly total_tokens: number | null;
  readonly usage_source: string | null;
  readonly cost: number | null;
  readonly cost_status: string | null;
  readonly upstream_request_id: string | null;
}

/** The explanation. */
export interface Trace {
  readonly request_id: string;
  readonly source: "memory" | "ledger";
  readonly route: string | null;
  readonly operation: string | null;
  readonly pipeline: string | null;
  readonly generation: number | null;
  readonly key: { readonly id: string | null; readonly alias: string | null } | null;
  readonly model: string | null;
  readonly stream: boolean | null;
  readonly started_at: string;
  readonly status: number | null;
  readonly error: string | null;
  readonly total_ms: number | null;
  readonly overhead_ms: number | null;
  readonly body_ms: number | null;
  readonly steps: readonly TraceStep[] | null;
  readonly attempts: readonly TraceAttempt[];
}
