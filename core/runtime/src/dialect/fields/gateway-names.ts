/**
 * Top-level members of a request for gateways, which model APIs do not have. Data, and functions
 * that read it.
 */

/**
 * The kind of a gateway field. `own`: this gateway honours it. `foreign`: other gateways honour it,
 * this one drops it with a notice. `shared`: like `foreign`, unless the target's dialect has a
 * field with the name (`Capabilities.nativeFields`).
 */
export type GatewayFieldKind = "own" | "foreign" | "shared";

const OWN = [
  "guardrails",
  "caching",
  "cache",
  "num_retries",
  "fallbacks",
  "context_window_fallback_dict",
  "disable_fallbacks",
  "timeout",
  "tags",
  "metadata",
  "litellm_metadata",
  "drop_params",
];

/**
 * LiteLLM's fields of a request (docs.litellm.ai/docs/proxy/user_keys and `all_litellm_params` in
 * `litellm/types/utils.py`).
 */
const FOREIGN = [
  "no-log",
  "guardrail_config",
  "disable_global_guardrail",
  "disable_global_guardrails",
  "max_retries",
  "retry_policy",
  "retry_strategy",
  "context_window_fallbacks",
  "content_policy_fallbacks",
  "max_fallbacks",
  "fallback_depth",
  "stream_timeout",
  "request_timeout",
  "force_timeout",
  "cooldown_time",
  "additional_drop_params",
  "allowed_openai_params",
  "allowed_model_region",
  "api_key",
  "api_base",
  "base_url",
  "api_version",
  "custom_llm_provider",
  "user_config",
  "fastest_response",
  "base_model",
  "model_info",
  "model_list",
  "input_cost_per_token",
  "output_cost_per_token",
  "input_cost_per_second",
  "output_cost_per_second",
  "prompt_id",
  "prompt_variables",
  "prompt_label",
  "prompt_version",
  "cache_key",
  "preset_cache_key",
  "caching_groups",
  "opted_out_global_guardrails",
  "keepalive_seconds",
  "router_settings_override",
  "use_chat_completions_api",
  "turn_off_message_logging",
  "prompt_environment",
  "enforced_params",
  "provider_specific_header",
  "service_callback",
  "logger_fn",
  "max_agentic_loops",
  "secret_fields",
  "proxy_server_request",
  "original_function",
  "custom_prompt_dict",
  "hf_model_name",
  "ssl_verify",
  "cache_read_input_token_cost",
  "cache_creation_input_token_cost",
];

/** `priority` is also vLLM's and Cohere's, `ttl` LM Studio's. */
const SHARED = ["priority", "ttl", "policies"];

const KINDS: ReadonlyMap<string, GatewayFieldKind> = new Map([
  ...OWN.map((name) => [name, "own"] as const),
  ...FOREIGN.map((name) => [name, "foreign"] as const),
  ...SHARED.map((name) => [name, "shared"] as const),
]);

/** Fields of other gateways. With a prefix of `FOREIGN_PREFIXES` there are more. */
export const FOREIGN_GATEWAY_FIELDS: readonly string[] = FOREIGN;

/** The fields that the gateway honours. The ingress checks them. They are never forwarded. */
export const OWN_GATEWAY_FIELDS: readonly string[] = OWN;

/** The kind of a top-level member as a gateway field; `undefined` for a member of a model API. */
export function gatewayFieldKind(name: string): GatewayFieldKind | undefined {
  return KINDS.get(name) ?? (hasForeignPrefix(name) ? "foreign" : undefined);
}

/**
 * Prefixes of LiteLLM's names, with any suffix: its own, prices, and credentials and addresses that
 * a client may send to it. They must not reach a provider.
 */
export const FOREIGN_PREFIXES: readonly string[] = [
  "litellm_",
  "mock_",
  "aws_",
  "vertex_",
  "azure_ad_",
  "langfuse_",
  "langsmith_",
  "input_cost_per_",
  "output_cost_per_",
];

function hasForeignPrefix(name: string): boolean {
  // Most names have none of their first letters.
  if (name.indexOf("_", 2) < 0) return false;
  return FOREIGN_PREFIXES.some((prefix) => name.startsWith(prefix));
}

/**
 * Whether a member is only for gateways, from the view of an upstream whose own fields are
 * `native`. Such a member is never forwarded. `metadata` is a field of most APIs: a native body
 * keeps it.
 */
export function isGatewayOnly(name: string, native: readonly string[] = []): boolean {
  return name !== "metadata" && gatewayFieldKind(name) !== undefined && !native.includes(name);
}
