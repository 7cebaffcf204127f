/** The table of error codes: one row for each way a request can fail. `docs/errors.md` is made from it. */

/** What one error code means to a client and to the engine. */
export interface ErrorCodeInfo {
  /** HTTP status, and the integer in `error.code` of the body. */
  readonly status: number;
  /** `error.type` of the body. */
  readonly type: string;
  /** Whether another attempt may succeed with the same request. */
  readonly retryable: boolean;
  /** When it happens, for the documentation. */
  readonly when: string;
  /** What the reader can do. */
  readonly remedy: string;
}

const row = (status: number, type: string, retryable: boolean, when: string, remedy: string): ErrorCodeInfo => ({
  status,
  type,
  retryable,
  when,
  remedy,
});

export const ERROR_CODES = {
  invalid_json: row(
    400,
    "invalid_request_error",
    false,
    "The body is not valid JSON, not valid UTF-8, nested too deeply, or no object.",
    "Send one JSON object, encoded as UTF-8.",
  ),
  invalid_field: row(
    400,
    "invalid_request_error",
    false,
    "A field is missing or has the wrong type; `param` names it.",
    "Correct the field.",
  ),
  invalid_path: row(
    400,
    "invalid_request_error",
    false,
    "The path holds dot segments, empty segments, escapes that hide them, or an address of its own.",
    "Send the path in its plain form; only the id of a model or deployment may hold `%2F`.",
  ),
  target_too_long: row(
    414,
    "invalid_request_error",
    false,
    "The path and query of the request line are over 4 KiB.",
    "Send a shorter address; long values belong in the body.",
  ),
  invalid_header: row(
    400,
    "invalid_request_error",
    false,
    "A header that may stand once stands twice, or asks for what the gateway does not do; `param` names it.",
    "Send the header once, and no `expect` but `100-continue`.",
  ),
  headers_too_large: row(
    431,
    "invalid_request_error",
    false,
    "The request line and headers are over 16 KiB, or there are more than 100 headers.",
    "Send fewer or shorter headers; the body has its own limit.",
  ),
  unsupported_parameter: row(
    400,
    "invalid_request_error",
    false,
    "The chosen provider cannot honour a parameter; `param` names it.",
    "Leave it out, or set `drop_params: true`.",
  ),
  upstream_rejected: row(
    400,
    "invalid_request_error",
    false,
    "The upstream refused the content of the request (its own status is kept).",
    "Read the message; it is the upstream's.",
  ),
  context_length_exceeded: row(
    400,
    "context_length_exceeded",
    false,
    "The prompt does not fit the model's context window.",
    "Shorten the prompt or name a larger model.",
  ),
  content_policy_violation: row(
    400,
    "content_policy_violation",
    false,
    "The upstream's content policy refused the request.",
    "Change the content.",
  ),
  guardrail_violation: row(
    400,
    "guardrail_violation",
    false,
    "A guardrail blocked the exchange; `param` names the guardrail.",
    "Change the content, or ask the operator.",
  ),
  authentication_failed: row(
    401,
    "authentication_error",
    false,
    "No key, or a malformed, unknown, revoked or expired one, or two different ones.",
    "Send a valid key in `Authorization: Bearer …`.",
  ),
  permission_denied: row(403, "permission_error", false, "The key is valid but may not do this.", "Use a key that may."),
  route_not_found: row(
    404,
    "not_found_error",
    false,
    "No route has this path.",
    "Check the path; `GET /v1/models` is a good first call.",
  ),
  model_not_found: row(
    404,
    "not_found_error",
    false,
    "The model does not exist, or the key may not use it.",
    "Call `GET /v1/models` for the models of this key.",
  ),
  not_found: row(404, "not_found_error", false, "The thing that the request names does not exist.", "Check the id."),
  method_not_allowed: row(
    405,
    "invalid_request_error",
    false,
    "The path exists, but not for this method; `allow` lists the methods.",
    "Use one of the methods in `allow`.",
  ),
  body_timeout: row(408, "timeout_error", true, "The client's body did not arrive in time.", "Send the body at once."),
  idempotency_conflict: row(
    409,
    "invalid_request_error",
    false,
    "The `idempotency-key` was used with another request.",
    "Send a new key with a new request.",
  ),
  body_too_large: row(
    413,
    "invalid_request_error",
    false,
    "The body is over the limit.",
    "Send less, or raise `server.max_body`.",
  ),
  unsupported_media_type: row(
    415,
    "invalid_request_error",
    false,
    "The body is not `application/json`, or has another coding than gzip or deflate.",
    "Send `content-type: application/json`, and gzip, deflate or no `content-encoding`.",
  ),
  rate_limited: row(
    429,
    "rate_limit_error",
    true,
    "A limit of the key, team, model or deployment is reached.",
    "Wait as `retry-after` says.",
  ),
  upstream_rate_limited: row(
    429,
    "rate_limit_error",
    true,
    "The upstream answered 429 to every attempt.",
    "Wait as `retry-after` says.",
  ),
  budget_exceeded: row(429, "budget_exceeded", false, "A budget is spent.", "Raise the budget or wait for its reset."),
  internal_error: row(
    500,
    "server_error",
    false,
    "A fault of the gateway.",
    "Report it with the `x-request-id` of the response.",
  ),
  plugin_failed: row(
    500,
    "server_error",
    false,
    "A plugin threw, hung or broke its contract.",
    "Report it with the `x-request-id`; the log names the plugin.",
  ),
  upstream_unreachable: row(
    502,
    "upstream_error",
    true,
    "The upstream refused or dropped the connection.",
    "Try again; tell the operator if it lasts.",
  ),
  upstream_invalid_response: row(
    502,
    "upstream_error",
    true,
    "The upstream's answer cannot be read.",
    "Try again; tell the operator if it lasts.",
  ),
  upstream_failed: row(
    502,
    "upstream_error",
    true,
    "The upstream answered 5xx, or reported an error inside its reply.",
    "Try again.",
  ),
  upstream_auth_failed: row(
    502,
    "upstream_error",
    false,
    "The upstream refused the gateway's own credential (401, 402 or 403).",
    "The operator must renew the credential.",
  ),
  upstream_model_denied: row(
    502,
    "upstream_error",
    false,
    "The provider's account has no access to this model (401 or 403 that names the model). Other models of the account are served.",
    "Ask for another model; the operator can enable this one at the provider.",
  ),
  stream_truncated: row(
    502,
    "upstream_error",
    true,
    "The upstream's stream ended before its end mark.",
    "Try again; what arrived is incomplete.",
  ),
  overloaded: row(
    503,
    "overloaded_error",
    true,
    "The gateway is draining or full, or no deployment can take the request.",
    "Wait as `retry-after` says.",
  ),
  upstream_overloaded: row(
    503,
    "overloaded_error",
    true,
    "The upstream says that it is overloaded (503, 529).",
    "Wait as `retry-after` says.",
  ),
  provider_unavailable: row(
    503,
    "overloaded_error",
    false,
    "The model has no target whose provider has a credential.",
    "The operator must set the credential that `sluice check` names.",
  ),
  upstream_timeout: row(
    504,
    "timeout_error",
    true,
    "The upstream did not answer within the deadline.",
    "Try again, or raise the deadline of the route.",
  ),
  deadline_exceeded: row(
    504,
    "timeout_error",
    false,
    "The route's deadline passed.",
    "Raise `deadline` of the pipeline, or ask for less.",
  ),
  client_closed: row(499, "client_closed", false, "The client closed the connection; nobody sees this error.", "Nothing."),
  hedge_lost: row(
    499,
    "client_closed",
    false,
    "Another attempt at the same request answered first; it stands in the attempt's row, and nobody sees this error.",
    "Nothing.",
  ),
  client_stalled: row(
    499,
    "client_closed",
    false,
    "The client took nothing of its reply for so long that the connection was cut; only spend rows and the log show it.",
    "Read replies as they come, or raise `server.stalled_client_timeout`.",
  ),
} as const satisfies Record<string, ErrorCodeInfo>;

/** The name of one row of the table. Names are never used again for something else. */
export type ErrorCode = keyof typeof ERROR_CODES;
