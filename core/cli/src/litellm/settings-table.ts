/** Settings by their names: those that are read, and why the others have no equivalent. */

import type { ImportNote } from "./source.ts";

type Row = "read" | Pick<ImportNote, "kind" | "why">;

const missing = (why: string): Row => ({ kind: "missing", why });
const changed = (why: string): Row => ({ kind: "changed", why });
const todo = (why: string): Row => ({ kind: "todo", why });
const read = (...names: readonly string[]): Readonly<Record<string, Row>> =>
  Object.fromEntries(names.map((name) => [name, "read" as const]));
const all = (row: Row, ...names: readonly string[]): Readonly<Record<string, Row>> =>
  Object.fromEntries(names.map((name) => [name, row]));

const CALLBACKS = missing(
  "there are no callbacks, traces or alerts; GET /metrics of the admin listener is for Prometheus, GET /spend/logs has the rows, logs are JSON lines",
);
const KEYS = missing(
  "each key is made with its own limits: sluice keys create, POST /key/generate",
);

/** `litellm_settings`. */
export const LITELLM: Readonly<Record<string, Row>> = {
  ...read(
    "drop_params",
    "num_retries",
    "request_timeout",
    "fallbacks",
    "context_window_fallbacks",
    "content_policy_fallbacks",
  ),
  ...read(
    "default_fallbacks",
    "allowed_fails",
    "cooldown_time",
    "cache",
    "cache_params",
    "max_budget",
    "budget_duration",
    "model_alias_map",
  ),
  ...all(
    CALLBACKS,
    "callbacks",
    "success_callback",
    "failure_callback",
    "service_callback",
    "langfuse_default_tags",
  ),
  ...all(
    KEYS,
    "default_team_settings",
    "upperbound_key_generate_params",
    "default_key_generate_params",
    "default_internal_user_params",
  ),
  ...all(
    changed("no text of a request is ever logged"),
    "turn_off_message_logging",
    "redact_user_api_key_info",
  ),
  ...all(changed("logs are JSON; --log-level says how much"), "json_logs", "set_verbose"),
  modify_params: missing(
    "a request is served as it is, or refused with its place; it is not rewritten",
  ),
  max_end_user_budget: missing("there are no budgets of end users; those of the user of a key are"),
  enable_json_schema_validation: changed("the guardrail schema holds replies against a schema"),
};

/** `router_settings`. */
export const ROUTER: Readonly<Record<string, Row>> = {
  ...read(
    "routing_strategy",
    "num_retries",
    "timeout",
    "allowed_fails",
    "cooldown_time",
    "model_group_alias",
    "fallbacks",
  ),
  ...read(
    "context_window_fallbacks",
    "content_policy_fallbacks",
    "default_fallbacks",
    "max_fallbacks",
    "retry_after",
    "stream_timeout",
  ),
  ...all(
    todo(
      "several gateways share limits and cache by `shared` in gateway.yaml: uncomment it and export REDIS_URL",
    ),
    "redis_host",
    "redis_port",
    "redis_password",
    "redis_url",
  ),
  ...all(
    missing(
      "which failures are tried again is decided by the failure; `attempts` and `breaker` say how often",
    ),
    "retry_policy",
    "model_group_retry_policy",
    "allowed_fails_policy",
  ),
  ...all(
    missing("`tags` of targets and `match_tags` of models route by tags (docs/tag-routing.md)"),
    "enable_tag_filtering",
    "tag_filtering_match_any",
  ),
  enable_pre_call_checks: changed(
    "context windows are always looked at when another model is to stand in; `order` is always kept",
  ),
  disable_cooldowns: missing(
    "a deployment that fails is left alone for a while; `breaker` of the step balance says when",
  ),
  routing_strategy_args: missing("the strategies have no such options"),
  provider_budget_config: missing(
    "write `budgets: [{ per: provider, max: …, only: […] }]` at the step limits",
  ),
  optional_pre_call_checks: missing(
    "there are no such checks; `balance: sticky` keeps clients with their target",
  ),
  cache_responses: changed("the cache is a step of the pipelines"),
  default_max_parallel_requests: missing("each target has `max_parallel` of its own"),
  set_verbose: changed("--log-level says how much is logged"),
};

/** `general_settings`. */
export const GENERAL: Readonly<Record<string, Row>> = {
  ...read(
    "litellm_key_header_name",
    "max_request_size_mb",
    "global_max_parallel_requests",
    "max_parallel_requests",
  ),
  master_key: todo(
    "the master key is SLUICE_MASTER_KEY in the environment (24 characters or more), and never in a file",
  ),
  database_url: todo(
    "keys and teams live in a store of the gateway's own; make them anew with sluice keys create",
  ),
  store_model_in_db: missing(
    "models live in gateway.yaml alone; an edit is live in a fifth of a second",
  ),
  ...all(
    changed("spend rows are always kept, and never hold texts"),
    "disable_spend_logs",
    "disable_error_logs",
    "store_prompts_in_spend_logs",
  ),
  ...all(
    missing("health is seen from requests: GET /deployments of the admin listener"),
    "background_health_checks",
    "health_check_interval",
  ),
  ...all(
    missing("there are no alerts by name; GET /metrics has what they need"),
    "alerting",
    "alert_types",
    "alerting_threshold",
    "alerting_args",
  ),
  ...all(
    missing("authentication is a step; a plugin of one's own may take its place"),
    "custom_auth",
    "enable_jwt_auth",
    "litellm_jwtauth",
  ),
  ...all(
    missing("routes are those of the files in pipelines/"),
    "allowed_routes",
    "admin_only_routes",
    "public_routes",
  ),
  ...all(
    changed("a provider's own API passes under its name, behind the same keys"),
    "pass_through_endpoints",
  ),
  ...all(
    changed("usage is always asked for, and shown to clients that ask"),
    "always_include_stream_usage",
  ),
  ...all(
    missing("a client names no upstream and brings no credential"),
    "allow_client_side_credentials",
    "forward_client_headers_to_llm_api",
  ),
  ...all(
    missing("keys are looked up in memory; without the store unknown keys are refused"),
    "allow_requests_on_db_unavailable",
    "user_api_key_cache_ttl",
  ),
  ...all(missing("put a proxy in front, or a firewall"), "allowed_ips", "use_x_forwarded_for"),
  ...all(
    missing("secrets come from the environment and from files: ${env:…}, ${file:…}"),
    "key_management_system",
    "key_management_settings",
  ),
  ...all(
    missing("rows go to an outbox on disk and from there to the store"),
    "proxy_batch_write_at",
    "proxy_budget_rescheduler_min_time",
    "proxy_budget_rescheduler_max_time",
    "use_redis_transaction_buffer",
    "database_connection_pool_limit",
    "database_connection_timeout",
    "maximum_spend_logs_retention_period",
  ),
};
