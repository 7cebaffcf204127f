/** Error codes of the Responses API, as Codex and the SDKs act on them. */

import type { ErrorCode, GatewayError } from "@sluice/contract";

/** Codes before the stream. An absent one has the gateway's own name. */
const CODES: Partial<Record<ErrorCode, string>> = {
  authentication_failed: "invalid_api_key",
  rate_limited: "rate_limit_exceeded",
  upstream_rate_limited: "rate_limit_exceeded",
  budget_exceeded: "insufficient_quota",
  overloaded: "server_is_overloaded",
  upstream_overloaded: "server_is_overloaded",
  provider_unavailable: "server_is_overloaded",
  internal_error: "server_error",
  plugin_failed: "server_error",
};

/**
 * Codes of a failed response. Codex repeats the whole request after a code that it does not know,
 * so what no repetition mends is an invalid prompt.
 */
const FINAL_CODES: Partial<Record<ErrorCode, string>> = {
  ...CODES,
  authentication_failed: "invalid_prompt",
  context_length_exceeded: "context_length_exceeded",
  content_policy_violation: "invalid_prompt",
  guardrail_violation: "invalid_prompt",
  invalid_field: "invalid_prompt",
  model_not_found: "invalid_prompt",
  permission_denied: "invalid_prompt",
  unsupported_parameter: "invalid_prompt",
  upstream_rejected: "invalid_prompt",
};

/** The code of an error reply: the upstream's own where it refused the content. */
export function codeOf({ code, param, provider }: GatewayError): string {
  if (code === "invalid_field" && param === "previous_response_id")
    return "previous_response_not_found";
  const own = provider?.code;
  if (code === "upstream_rejected" && typeof own === "string" && /[a-z]/i.test(own)) return own;
  return CODES[code] ?? code;
}

/** The code of a failed response. */
export function finalCodeOf({ code }: GatewayError): string {
  return FINAL_CODES[code] ?? "server_error";
}

/** The message; of a limit with the time to wait, in the form that Codex reads. */
export function messageOf({ code, message, retryAfterMs }: GatewayError): string {
  const isLimit = code === "rate_limited" || code === "upstream_rate_limited";
  if (!isLimit || retryAfterMs === undefined) return message;
  const sentence = /[.!?]$/.test(message) ? message : `${message}.`;
  return `${sentence} Please try again in ${Math.ceil(retryAfterMs) / 1_000}s.`;
}

const PARAMS: readonly (readonly [RegExp, string])[] = [
  [/^messages\b.*/, "input"],
  [/^tools\[\d+\]\.function\b.*/, "tools"],
  [/^tool_choice\.allowed_tools\b.*/, "tool_choice"],
  [/^(?:max_completion_tokens|max_tokens)$/, "max_output_tokens"],
  [/^response_format\.json_schema\./, "text.format."],
  [/^response_format\b.*/, "text.format"],
  [/^reasoning_effort$/, "reasoning.effort"],
  [/^verbosity$/, "text.verbosity"],
  [/^logprobs$/, "include"],
];

/** The refused field in the client's terms: a provider names fields of the reference dialect. */
export function paramOf({ param }: GatewayError): string | null {
  if (param === undefined) return null;
  const found = PARAMS.find(([pattern]) => pattern.test(param));
  return found === undefined ? param : param.replace(found[0], found[1]);
}
