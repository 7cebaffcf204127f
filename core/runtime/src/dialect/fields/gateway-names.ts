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
];

/** `priority` is also vLLM's and Cohere's, `ttl` LM Studio's. */
const SHARED = ["priority", "ttl", "policies"];

const KINDS: ReadonlyMap<string, GatewayFieldKind> = new Map([
  ...OWN.map((name) => [name, "own"] as const),
  ...FOREIGN.map((name) => [name, "foreign"] as const),
  ...SHARED.map((name) => [name, "shared"] as const),
]);

/** The fields that the gateway honours. The ingress checks them. They are never forwarded. */
export const OWN_GATEWAY_FIELDS: readonly string[] = OWN;

/** The kind of a top-level member as a gateway field; `undefined` for a member of a model API. */
export function gatewayFieldKind(name: string): GatewayFieldKind | undefined {
  return KINDS.get(name) ?? (hasForeignPrefix(name) ? "foreign" : undefined);
}

/** Prefixes of LiteLLM's names, with any suffix (its `all_litellm_params`). */
function hasForeignPrefix(name: string): boolean {
  return name.startsWith("litellm_") || name.startsWith("mock_");
}

/**
 * Whether a member is only for gateways, from the view of an upstream whose own fields are
 * `native`. Such a member is never forwarded. `metadata` is a field of most APIs: a native body
 * keeps it.
 */
export function isGatewayOnly(name: string, native: readonly string[] = []): boolean {
  return name !== "metadata" && gatewayFieldKind(name) !== undefined && !native.includes(name);
}
