/**
 * The engine's own metrics: names, labels and help texts. `docs/metrics.md` is generated from this
 * table.
 */

import type { HistogramDescription, MetricDescription } from "@sluice/contract";

/** Seconds, from a cached reply to the longest reasoning. */
const DURATIONS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];
/** Seconds that the gateway itself takes. */
const OVERHEADS = [0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1];
const TOKENS = [1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576];

const metric = <T extends MetricDescription>(description: T): T => Object.freeze(description);

/** Counted after every reply, from the exchange and its rows. */
export const REQUEST_METRICS = {
  requests: metric({
    name: "sluice_requests_total",
    help: "Finished requests by route, status and configured model. Status 499: the client disconnected.",
    labels: ["route", "status", "model"],
  }),
  failures: metric({
    name: "sluice_request_failures_total",
    help: "Failed requests by route and error code (docs/errors.md).",
    labels: ["route", "code"],
  }),
  duration: metric<HistogramDescription>({
    name: "gen_ai_server_request_duration_seconds",
    help: "Time from the request line to the end of the reply.",
    labels: ["gen_ai_operation_name", "gen_ai_request_model"],
    buckets: DURATIONS,
  }),
  firstToken: metric<HistogramDescription>({
    name: "gen_ai_server_time_to_first_token_seconds",
    help: "Time from the request line to the first content of the upstream that answered, for streams and whole replies.",
    labels: ["gen_ai_operation_name", "gen_ai_request_model"],
    buckets: DURATIONS,
  }),
  overhead: metric<HistogramDescription>({
    name: "sluice_request_overhead_seconds",
    help: "Time that the gateway itself took before the headers of the reply, without waits for upstreams.",
    labels: ["route"],
    buckets: OVERHEADS,
  }),
  attempts: metric({
    name: "sluice_attempts_total",
    help: "Upstream calls by deployment, outcome (success, failure, partial) and error code (none after a success).",
    labels: ["deployment", "outcome", "code"],
  }),
  attemptDuration: metric<HistogramDescription>({
    name: "gen_ai_client_operation_duration_seconds",
    help: "Duration of upstream calls.",
    labels: ["gen_ai_operation_name", "gen_ai_provider_name", "deployment"],
    buckets: DURATIONS,
  }),
  moreAttempts: metric({
    name: "sluice_extra_attempts_total",
    help: "Upstream calls after the first of a request, by kind: retry (the same model), fallback (another model), hedge (in parallel with a running attempt).",
    labels: ["kind", "deployment"],
  }),
  tokens: metric({
    name: "sluice_tokens_total",
    help: "Tokens of spend rows by type (input, output, cached, reasoning) and source (provider, estimated).",
    labels: ["deployment", "type", "source"],
  }),
  tokenUsage: metric<HistogramDescription>({
    name: "gen_ai_client_token_usage",
    help: "Tokens of one upstream call, input and output.",
    labels: ["gen_ai_token_type", "gen_ai_provider_name", "deployment"],
    buckets: TOKENS,
  }),
  cost: metric({
    name: "sluice_cost_nano_usd_total",
    help: "Cost of spend rows, in billionths of a US dollar. Rows without a price are excluded.",
    labels: ["deployment", "model"],
  }),
  unpriced: metric({
    name: "sluice_unpriced_rows_total",
    help: "Spend rows with an unknown cost.",
    labels: ["deployment"],
  }),
  cache: metric({
    name: "sluice_cache_requests_total",
    help: "Requests that reached a cache step, by result: hit, miss or bypass.",
    labels: ["result"],
  }),
  verdicts: metric({
    name: "sluice_guardrail_verdicts_total",
    help: "Guardrail verdicts by guardrail, direction, verdict and mode.",
    labels: ["guardrail", "direction", "verdict", "mode"],
  }),
} as const;

/** Read when the page is requested. */
export const STATE_METRICS = {
  generation: metric({
    name: "sluice_generation",
    help: "The number of the generation that serves new requests.",
  }),
  config: metric({
    name: "sluice_config_info",
    help: "Always 1. The labels have the digest and the origin of the running configuration.",
    labels: ["digest", "origin"],
  }),
  drift: metric({
    name: "sluice_config_drift_files",
    help: "Configuration files that differ from the running configuration.",
  }),
  waiting: metric({
    name: "sluice_restart_waiting_files",
    help: "Plugin files that changed after they were loaded; run sluice restart to load them.",
  }),
  applies: metric({
    name: "sluice_config_applies_total",
    help: "Attempts to apply a configuration, by outcome: applied, unchanged, refused, superseded.",
    labels: ["outcome"],
  }),
  failing: metric({
    name: "sluice_config_failing_generations_total",
    help: "Generations whose requests failed although earlier ones did not (server.auto_rollback). Each was rolled back, or kept because a rollback would widen access.",
  }),
  draining: metric({
    name: "sluice_draining_generations",
    help: "Older generations with requests under way.",
  }),
  drainingLeases: metric({
    name: "sluice_draining_leases",
    help: "Requests under way in older generations.",
  }),
  drainingAge: metric({
    name: "sluice_draining_oldest_seconds",
    help: "Age of the oldest request in an older generation.",
  }),
  inFlight: metric({ name: "sluice_requests_in_flight", help: "Requests under way." }),
  breaker: metric({
    name: "sluice_deployment_breaker",
    help: "0: closed, requests use the deployment. 1: half open, the next request decides. 2: open, no request uses it.",
    labels: ["deployment"],
  }),
  ejections: metric({
    name: "sluice_deployment_ejections_total",
    help: "Times that the deployment's breaker opened.",
    labels: ["deployment"],
  }),
  deploymentInFlight: metric({
    name: "sluice_deployment_in_flight",
    help: "Requests that use the deployment.",
    labels: ["deployment"],
  }),
  queued: metric({
    name: "sluice_deployment_queued",
    help: "Requests that wait for a slot of the deployment.",
    labels: ["deployment"],
  }),
  outbox: metric({
    name: "sluice_outbox_batches",
    help: "Batches of spend rows in the outbox that the store does not have yet.",
  }),
  lag: metric({
    name: "sluice_ledger_lag_seconds",
    help: "Time that the oldest spend row has waited for the store; 0 when the store has all rows.",
  }),
  storeFailing: metric({
    name: "sluice_ledger_store_failing",
    help: "1 while the store refuses spend rows.",
  }),
  dataFolder: metric({
    name: "sluice_data_folder_intact",
    help: "1 normally, 0 while the data folder is removed or replaced.",
  }),
  writable: metric({
    name: "sluice_ledger_writable",
    help: "1 normally, 0 while spend rows cannot be stored because the disk is full or a file is missing. Requests are then refused before any upstream call.",
  }),
  keptRows: metric({
    name: "sluice_ledger_kept_rows",
    help: "Spend rows in memory that are not yet in the outbox.",
  }),
  storeAway: metric({
    name: "sluice_store_away",
    help: "1 while the store does not answer, 0 while it does. Absent for a store without a log of changes.",
  }),
  changesAge: metric({
    name: "sluice_store_changes_age_seconds",
    help: "Time since this process last began to read the log of changes of keys, teams and tenants.",
  }),
  leader: metric({
    name: "sluice_leader",
    help: "1 in the process that does the work on the store for all processes that share it.",
  }),
  jobFailing: metric({
    name: "sluice_leader_job_failing",
    help: "1 while the last run of a job of the leader failed. Only the leader reports it.",
    labels: ["job"],
  }),
  stateAway: metric({
    name: "sluice_shared_state_away",
    help: "1 while the shared-state server is unreachable and this process decides alone.",
  }),
} as const;

/** Of each process. */
export const PROCESS_METRICS = {
  loopDelay: metric({
    name: "sluice_event_loop_delay_seconds",
    help: "Event-loop delay since the last scrape, over at least one second: p50, p99 and maximum.",
    labels: ["quantile"],
  }),
  blocks: metric({
    name: "sluice_event_loop_blocks_total",
    help: "Event-loop blocks of `server.block_warning` or longer, by the plugin whose code was running: gateway for the gateway's code, unknown if not attributed.",
    labels: ["plugin"],
  }),
  blockedSeconds: metric({
    name: "sluice_event_loop_blocked_seconds_total",
    help: "Total duration of these event-loop blocks, by plugin.",
    labels: ["plugin"],
  }),
  memory: metric({
    name: "process_resident_memory_bytes",
    help: "Resident memory of the process.",
  }),
  heap: metric({
    name: "nodejs_heap_size_used_bytes",
    help: "Memory of objects in V8's heap, including garbage not yet collected.",
  }),
  cpu: metric({ name: "process_cpu_seconds_total", help: "Processor time, user and system." }),
  files: metric({
    name: "process_open_fds",
    help: "Open files and sockets, where the system reports them.",
  }),
  started: metric({
    name: "process_start_time_seconds",
    help: "Start time of the process, in seconds since 1970.",
  }),
} as const;

/** Of all workers, reported by the supervisor. */
export const WORKER_METRICS = {
  serving: metric({
    name: "sluice_workers",
    help: "Workers that take requests; fewer than server.workers while a worker is restarted.",
  }),
  leaving: metric({
    name: "sluice_workers_leaving",
    help: "Workers that a restart replaced and that finish their last requests.",
  }),
  hung: metric({
    name: "sluice_worker_hung_total",
    help: "Workers that were killed because their event loop was blocked for server.hung_worker_timeout.",
  }),
  ends: metric({
    name: "sluice_worker_ends_total",
    help: "Workers that exited unexpectedly while they took requests.",
  }),
} as const;
