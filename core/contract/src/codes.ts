/**
 * The table of error codes: one row for each way a request can fail. `docs/errors.md` is generated
 * from it.
 */

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

const row = (
  status: number,
  type: string,
  retryable: boolean,
  when: string,
  remedy: string,
): ErrorCodeInfo => ({
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
    "The body is not valid JSON or UTF-8, is nested too deeply, or is not an object.",
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
    "The path contains dot segments, empty segments, escapes that encode them, or an absolute address.",
    "Send the path in its plain form. Only the id of a model or deployment may contain `%2F`.",
  ),
  target_too_long: row(
    414,
    "invalid_request_error",
    false,
    "The path and query of the request line are longer than 4 KiB.",
    "Send a shorter address. Send long values in the body.",
  ),
  invalid_header: row(
    400,
    "invalid_request_error",
    false,
    "A header is duplicated, or has a value that the gateway does not support; `param` names it.",
    "Send the header once. The only supported `expect` is `100-continue`.",
  ),
  headers_too_large: row(
    431,
    "invalid_request_error",
    false,
    "The request line and headers are larger than 16 KiB, or there are more than 100 headers.",
    "Send fewer or shorter headers. The body has its own limit.",
  ),
  unsupported_parameter: row(
    400,
    "invalid_request_error",
    false,
    "The chosen provider does not support a parameter; `param` names it.",
    "Remove the parameter, or set `drop_params: true`.",
  ),
  upstream_rejected: row(
    400,
    "invalid_request_error",
    false,
    "The upstream refused the content of the request (its own status is kept).",
    "Correct the request as the upstream's message says.",
  ),
  context_length_exceeded: row(
    400,
    "context_length_exceeded",
    false,
    "The prompt does not fit the model's context window.",
    "Shorten the prompt, or use a model with a larger context window.",
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
    "The key is missing, malformed, unknown, revoked or expired, or the request has two different keys.",
    "Send a valid key in `Authorization: Bearer …`.",
  ),
  permission_denied: row(
    403,
    "permission_error",
    false,
    "The key is valid but lacks this permission.",
    "Use a key with the permission.",
  ),
  confirmation_required: row(
    403,
    "permission_error",
    false,
    "A change over the admin listener needs the key of the session again. The message says why.",
    "Enter the key with `POST /ui/key`, and send its `confirmation` in `x-sluice-confirmation`.",
  ),
  read_only: row(
    403,
    "permission_error",
    false,
    "The gateway does not write the files of its configuration: `server.admin.editor`, or a file system that is read-only. The message says which.",
    "Edit the files where they are kept.",
  ),
  misdirected_request: row(
    421,
    "invalid_request_error",
    false,
    "The header `host` names no address of the admin listener.",
    "Use the listener's address, or name the other one in `server.admin.public_url` or `server.admin.hosts`.",
  ),
  route_not_found: row(
    404,
    "not_found_error",
    false,
    "No route has this path.",
    "Check the path. To test the connection, call `GET /v1/models`.",
  ),
  model_not_found: row(
    404,
    "not_found_error",
    false,
    "The model does not exist, or the key may not use it.",
    "Call `GET /v1/models` to list the models of this key.",
  ),
  not_found: row(
    404,
    "not_found_error",
    false,
    "The object that the request names does not exist.",
    "Check the id.",
  ),
  method_not_allowed: row(
    405,
    "invalid_request_error",
    false,
    "The path does not support this method; `allow` lists the methods.",
    "Use one of the methods in `allow`.",
  ),
  body_timeout: row(
    408,
    "timeout_error",
    true,
    "The client's body did not arrive in time.",
    "Send the body without pauses.",
  ),
  idempotency_conflict: row(
    409,
    "invalid_request_error",
    false,
    "The `idempotency-key` was already used with a different request.",
    "Use a new `idempotency-key` for each new request.",
  ),
  config_conflict: row(
    409,
    "invalid_request_error",
    false,
    "Another edit of the configuration came first. The message names it.",
    "Look at what runs now, and repeat the edit on it.",
  ),
  managed_by_file: row(
    409,
    "invalid_request_error",
    false,
    "An admin route would change a key or a team that the configuration declares. The message names its file and line.",
    "Edit the file.",
  ),
  body_too_large: row(
    413,
    "invalid_request_error",
    false,
    "The body is larger than the limit.",
    "Send a smaller body, or raise `server.max_body`.",
  ),
  unsupported_media_type: row(
    415,
    "invalid_request_error",
    false,
    "The body is not `application/json`, or has an encoding other than gzip or deflate.",
    "Send `content-type: application/json`, with gzip, deflate or no `content-encoding`.",
  ),
  rate_limited: row(
    429,
    "rate_limit_error",
    true,
    "A limit of the key, team, model or deployment is reached.",
    "Retry after the time in `retry-after`.",
  ),
  upstream_rate_limited: row(
    429,
    "rate_limit_error",
    true,
    "The upstream answered 429 to every attempt.",
    "Retry after the time in `retry-after`.",
  ),
  budget_exceeded: row(
    429,
    "budget_exceeded",
    false,
    "A budget is used up.",
    "Raise the budget, or wait for its reset.",
  ),
  internal_error: row(
    500,
    "server_error",
    false,
    "The gateway has a bug.",
    "Report it with the `x-request-id` of the response.",
  ),
  unsupported_transfer_coding: row(
    501,
    "invalid_request_error",
    false,
    "The request has a `transfer-encoding` other than `chunked`.",
    "Send the body with `transfer-encoding: chunked` alone, or with `content-length`.",
  ),
  unsupported_http_version: row(
    505,
    "invalid_request_error",
    false,
    "The request line names a version of HTTP other than 1.1 and 1.0.",
    "Configure the client, or the proxy before the gateway, for HTTP/1.1.",
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
    "The upstream refused or closed the connection.",
    "Retry. If it persists, contact the operator.",
  ),
  upstream_invalid_response: row(
    502,
    "upstream_error",
    true,
    "The gateway cannot parse the upstream's reply.",
    "Retry. If it persists, contact the operator.",
  ),
  upstream_failed: row(
    502,
    "upstream_error",
    true,
    "The upstream answered 5xx, or reported an error in its reply.",
    "Retry.",
  ),
  upstream_auth_failed: row(
    502,
    "upstream_error",
    false,
    "The upstream refused the gateway's own credential (401, 402 or 403).",
    "The operator must replace the credential.",
  ),
  upstream_model_denied: row(
    502,
    "upstream_error",
    false,
    "The provider's account has no access to this model (401 or 403 that names the model). Other models of the account work.",
    "Use another model, or ask the operator to enable this one at the provider.",
  ),
  stream_truncated: row(
    502,
    "upstream_error",
    true,
    "The upstream's stream ended before its end mark.",
    "Discard the incomplete reply and retry.",
  ),
  overloaded: row(
    503,
    "overloaded_error",
    true,
    "The gateway is draining or full, or no deployment is available.",
    "Retry after the time in `retry-after`.",
  ),
  upstream_overloaded: row(
    503,
    "overloaded_error",
    true,
    "The upstream reported overload (503, 529).",
    "Retry after the time in `retry-after`.",
  ),
  provider_unavailable: row(
    503,
    "overloaded_error",
    false,
    "No target of the model has a provider with a credential.",
    "The operator must set the credential that `sluice check` names.",
  ),
  upstream_timeout: row(
    504,
    "timeout_error",
    true,
    "The upstream did not answer before the deadline.",
    "Retry, or raise the deadline of the route.",
  ),
  deadline_exceeded: row(
    504,
    "timeout_error",
    false,
    "The route's deadline passed.",
    "Raise `deadline` of the pipeline, or request a shorter reply.",
  ),
  client_closed: row(
    499,
    "client_closed",
    false,
    "The client closed the connection. Only spend rows and the log show this error.",
    "No action is needed.",
  ),
  hedge_lost: row(
    499,
    "client_closed",
    false,
    "Another attempt of the same request answered first. Only the attempt's row shows this error.",
    "No action is needed.",
  ),
  client_stalled: row(
    499,
    "client_closed",
    false,
    "The client did not read its reply within `server.stalled_client_timeout`, and the gateway closed the connection. Only spend rows and the log show it.",
    "Read replies as they arrive, or raise `server.stalled_client_timeout`.",
  ),
} as const satisfies Record<string, ErrorCodeInfo>;

/** The name of one row of the table. A name is never reused with another meaning. */
export type ErrorCode = keyof typeof ERROR_CODES;
