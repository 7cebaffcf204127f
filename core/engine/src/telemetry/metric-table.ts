/** The engine's own metrics: their names, labels and what they say. `docs/metrics.md` is made from this table. */

import type { HistogramDescription, MetricDescription } from "@sluice/spec";

/** Seconds, from a reply out of a cache to the longest reasoning. */
const DURATIONS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];
/** Seconds that the gateway itself takes. */
const OVERHEADS = [0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1];
const TOKENS = [1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576];

const metric = <T extends MetricDescription>(description: T): T => Object.freeze(description);

/** Counted behind every reply, from the exchange and its rows. */
export const REQUEST_METRICS = {
  requests: metric({
    name: "sluice_requests_total",
    help: "Requests that came to an end, by route, status and configured model; status 499 where the client had left.",
    labels: ["route", "status", "model"],
  }),
  failures: metric({
    name: "sluice_request_failures_total",
    help: "Requests that failed, by route and error code (docs/errors.md).",
    labels: ["route", "code"],
  }),
  duration: metric<HistogramDescription>({
    name: "gen_ai_server_request_duration_seconds",
    help: "From the request line to the end of the reply.",
    labels: ["gen_ai_operation_name", "gen_ai_request_model"],
    buckets: DURATIONS,
  }),
  firstToken: metric<HistogramDescription>({
    name: "gen_ai_server_time_to_first_token_seconds",
    help: "From the request line to the first content of the upstream that answered, streams and whole replies.",
    labels: ["gen_ai_operation_name", "gen_ai_request_model"],
    buckets: DURATIONS,
  }),
  overhead: metric<HistogramDescription>({
    name: "sluice_request_overhead_seconds",
    help: "What the gateway itself took until the headers of the reply: without the waiting for upstreams.",
    labels: ["route"],
    buckets: OVERHEADS,
  }),
  attempts: metric({
    name: "sluice_attempts_total",
    help: "Upstream calls by deployment, outcome (success, failure, partial) and error code (none when it went well).",
    labels: ["deployment", "outcome", "code"],
  }),
  attemptDuration: metric<HistogramDescription>({
    name: "gen_ai_client_operation_duration_seconds",
    help: "Upstream calls from their beginning to their end.",
    labels: ["gen_ai_operation_name", "gen_ai_provider_name", "deployment"],
    buckets: DURATIONS,
  }),
  moreAttempts: metric({
    name: "sluice_extra_attempts_total",
    help: "Upstream calls beyond the first of a request: kind retry (the same model again), fallback (another model), hedge (beside one that was still under way).",
    labels: ["kind", "deployment"],
  }),
  tokens: metric({
    name: "sluice_tokens_total",
    help: "Tokens of rows by type (input, output, cached, reasoning) and source (provider, estimated).",
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
    help: "Money by the rows, in billionths of a US dollar. Rows without a price are not in it.",
    labels: ["deployment", "model"],
  }),
  unpriced: metric({
    name: "sluice_unpriced_rows_total",
    help: "Rows whose cost is unknown.",
    labels: ["deployment"],
  }),
  cache: metric({
    name: "sluice_cache_requests_total",
    help: "Requests that came through a cache step, by result: hit, miss or bypass.",
    labels: ["result"],
  }),
  verdicts: metric({
    name: "sluice_guardrail_verdicts_total",
    help: "Verdicts of guardrails.",
    labels: ["guardrail", "direction", "verdict", "mode"],
  }),
} as const;

/** Found by looking when the page is asked for. */
export const STATE_METRICS = {
  generation: metric({ name: "sluice_generation", help: "The number of the generation that new requests get." }),
  config: metric({
    name: "sluice_config_info",
    help: "Always 1: the digest of the configuration that runs, and how it came to be.",
    labels: ["digest", "origin"],
  }),
  drift: metric({ name: "sluice_config_drift_files", help: "Files whose contents are not those that run." }),
  waiting: metric({
    name: "sluice_restart_waiting_files",
    help: "Files of plugins that have changed since they were loaded; they wait for sluice restart.",
  }),
  applies: metric({
    name: "sluice_config_applies_total",
    help: "Attempts to apply a configuration, by outcome: applied, unchanged, refused, superseded.",
    labels: ["outcome"],
  }),
  failing: metric({
    name: "sluice_config_failing_generations_total",
    help: "Generations whose requests failed where those before did not (server.auto_rollback): taken back, or kept because going back would have opened what the edit closed.",
  }),
  draining: metric({ name: "sluice_draining_generations", help: "Older generations that still serve what they began." }),
  drainingLeases: metric({ name: "sluice_draining_leases", help: "Requests that older generations still serve." }),
  drainingAge: metric({ name: "sluice_draining_oldest_seconds", help: "The age of the oldest request of an older generation." }),
  inFlight: metric({ name: "sluice_requests_in_flight", help: "Requests that are being served." }),
  breaker: metric({
    name: "sluice_deployment_breaker",
    help: "0: closed, requests go there; 1: half open, the next one decides; 2: open, none does.",
    labels: ["deployment"],
  }),
  ejections: metric({
    name: "sluice_deployment_ejections_total",
    help: "How often a breaker has opened.",
    labels: ["deployment"],
  }),
  deploymentInFlight: metric({
    name: "sluice_deployment_in_flight",
    help: "Requests that use a deployment.",
    labels: ["deployment"],
  }),
  queued: metric({
    name: "sluice_deployment_queued",
    help: "Requests that wait for a slot of a deployment.",
    labels: ["deployment"],
  }),
  outbox: metric({
    name: "sluice_outbox_batches",
    help: "Batches of spend rows in the outbox that the store does not have yet.",
  }),
  lag: metric({
    name: "sluice_ledger_lag_seconds",
    help: "How long spend rows have been waiting for the store; 0 when it has all of them.",
  }),
  storeFailing: metric({ name: "sluice_ledger_store_failing", help: "1 while the store refuses spend rows." }),
  dataFolder: metric({ name: "sluice_data_folder_intact", help: "0 while the data folder is removed or replaced." }),
  writable: metric({
    name: "sluice_ledger_writable",
    help: "0 while spend rows cannot be stored: the disk is full, or a file is gone. Requests are refused before any upstream is called.",
  }),
  keptRows: metric({ name: "sluice_ledger_kept_rows", help: "Spend rows in memory that the outbox did not take yet." }),
  stateAway: metric({
    name: "sluice_shared_state_away",
    help: "1 while the server of shared state is away and this process decides alone.",
  }),
} as const;

/** How the process is. */
export const PROCESS_METRICS = {
  loopDelay: metric({
    name: "sluice_event_loop_delay_seconds",
    help: "How late the event loop came round since the page was last asked for, over a second at least: the median, the 99th of a hundred and the worst.",
    labels: ["quantile"],
  }),
  blocks: metric({
    name: "sluice_event_loop_blocks_total",
    help: "How often the event loop stood still for `server.block_warning` or longer, by the plugin whose code was running; gateway for its own, unknown where nobody could be seen.",
    labels: ["plugin"],
  }),
  blockedSeconds: metric({
    name: "sluice_event_loop_blocked_seconds_total",
    help: "How long it stood still then.",
    labels: ["plugin"],
  }),
  memory: metric({ name: "process_resident_memory_bytes", help: "Memory that the process has in use." }),
  heap: metric({ name: "nodejs_heap_size_used_bytes", help: "Memory of live and dead objects in V8's heap." }),
  cpu: metric({ name: "process_cpu_seconds_total", help: "Processor time, user and system." }),
  files: metric({ name: "process_open_fds", help: "Open files and sockets, where the system tells." }),
  started: metric({ name: "process_start_time_seconds", help: "When the process began, in seconds since 1970." }),
} as const;

/** Of several workers: known to the process that supervises them. */
export const CREW_METRICS = {
  serving: metric({ name: "sluice_workers", help: "Workers that take requests; fewer than server.workers while one is mended." }),
  leaving: metric({
    name: "sluice_workers_leaving",
    help: "Workers that a restart has replaced and that finish what they have under way.",
  }),
  hung: metric({
    name: "sluice_worker_hung_total",
    help: "Workers that were ended because their event loop stood still for server.hung_worker_timeout.",
  }),
  ends: metric({ name: "sluice_worker_ends_total", help: "Workers that ended by themselves while they took requests." }),
} as const;
