/** Every error body of every provider, and what becomes of it. Data. */

import type { ErrorCode, JsonObject, JsonValue } from "@sluice/contract";

/** An error reply, and the code that a client reads. `retries`: another try may help. */
export interface ErrorFact {
  readonly status: number;
  readonly body: JsonValue;
  readonly headers?: Readonly<Record<string, string>>;
  readonly code: ErrorCode;
  readonly retries: boolean;
  readonly retryAfterMs?: number;
  /** The status that a client reads, where the code does not say it. */
  readonly outward?: number;
}

const fact = (
  status: number,
  body: JsonValue,
  code: ErrorCode,
  retries: boolean,
  more: Partial<ErrorFact> = {},
): ErrorFact => ({
  status,
  body,
  code,
  retries,
  ...more,
});

const openai = (message: string, rest: JsonObject = {}): JsonObject => ({
  error: { message, type: "invalid_request_error", param: null, code: null, ...rest },
});
const anthropic = (type: string, message = "No."): JsonObject => ({
  type: "error",
  error: { type, message },
  request_id: "req_1",
});
const google = (
  code: number,
  status: string,
  message = "No.",
  details: JsonValue = [],
): JsonObject => ({
  error: { code, message, status, details },
});
const aws = (
  name: string,
  status: number,
  code: ErrorCode,
  retries: boolean,
  message = "No.",
): ErrorFact =>
  fact(status, { message }, code, retries, {
    headers: { "x-amzn-errortype": `${name}:http://internal.amazon.com/coral/` },
  });

/** Errors of every provider of the reference dialect. */
const REFERENCE: readonly ErrorFact[] = [
  fact(400, openai("Bad.", { param: "temperature" }), "upstream_rejected", false),
  fact(
    400,
    openai("This model's maximum context length is 8192 tokens.", {
      code: "context_length_exceeded",
    }),
    "context_length_exceeded",
    false,
  ),
  fact(
    400,
    openai("Your request was rejected as a result of our safety system."),
    "content_policy_violation",
    false,
  ),
  fact(400, openai("Refused.", { code: "moderation_blocked" }), "content_policy_violation", false),
  fact(
    400,
    openai("Invalid 'input': maximum input length is 8192 tokens."),
    "context_length_exceeded",
    false,
  ),
  fact(
    400,
    openai("Unknown parameter: 'moderation'.", { param: "moderation" }),
    "upstream_rejected",
    false,
  ),
  fact(400, openai(""), "upstream_rejected", false),
  fact(
    400,
    openai("Refused.", { code: "content_policy_violation" }),
    "content_policy_violation",
    false,
  ),
  fact(400, openai("Refused.", { code: "content_filter" }), "content_policy_violation", false),
  fact(
    401,
    openai("Incorrect API key.", { code: "invalid_api_key" }),
    "upstream_auth_failed",
    false,
  ),
  fact(403, openai("No access."), "upstream_auth_failed", false),
  fact(404, openai("No such model.", { code: "model_not_found" }), "upstream_rejected", false, {
    outward: 404,
  }),
  fact(429, openai("Slow down."), "upstream_rate_limited", true, {
    headers: { "retry-after": "12" },
    retryAfterMs: 12_000,
  }),
  fact(429, openai("Slow down."), "upstream_rate_limited", true, {
    headers: { "retry-after-ms": "250" },
    retryAfterMs: 250,
  }),
  fact(
    429,
    openai("Pay.", { type: "insufficient_quota", code: "insufficient_quota" }),
    "upstream_rate_limited",
    false,
  ),
  fact(500, openai("Oops.", { type: "server_error" }), "upstream_failed", true),
  fact(503, openai("Busy."), "upstream_overloaded", true),
  fact(504, openai("Late."), "upstream_timeout", true),
];

/** By provider. */
export const ERRORS: Readonly<Record<string, readonly ErrorFact[]>> = {
  openai: REFERENCE,
  custom: REFERENCE,
  azure: [
    ...REFERENCE,
    fact(
      400,
      {
        error: {
          code: "content_filter",
          message: "The response was filtered.",
          status: 400,
          innererror: {
            code: "ResponsibleAIPolicyViolation",
            content_filter_result: { hate: { filtered: true, severity: "high" } },
          },
        },
      },
      "content_policy_violation",
      false,
    ),
    fact(
      404,
      { error: { code: "DeploymentNotFound", message: "No such deployment." } },
      "upstream_rejected",
      false,
      {
        outward: 404,
      },
    ),
    fact(
      401,
      { error: { code: "401", message: "Access denied due to invalid subscription key." } },
      "upstream_auth_failed",
      false,
    ),
    fact(401, { statusCode: 401, message: "Unauthorized." }, "upstream_auth_failed", false),
  ],
  anthropic: [
    fact(400, anthropic("invalid_request_error"), "upstream_rejected", false),
    fact(
      400,
      anthropic("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
      "context_length_exceeded",
      false,
    ),
    fact(
      400,
      anthropic("invalid_request_error", "Your credit balance is too low to access the API."),
      "upstream_auth_failed",
      false,
    ),
    fact(
      400,
      anthropic("invalid_request_error", "Output blocked by content filtering policy"),
      "content_policy_violation",
      false,
    ),
    fact(
      400,
      anthropic(
        "invalid_request_error",
        "input length and `max_tokens` exceed context limit: 199000 + 8000 > 200000",
      ),
      "context_length_exceeded",
      false,
    ),
    fact(401, anthropic("authentication_error"), "upstream_auth_failed", false),
    fact(402, anthropic("billing_error"), "upstream_auth_failed", false),
    fact(403, anthropic("permission_error"), "upstream_auth_failed", false),
    fact(404, anthropic("not_found_error"), "upstream_rejected", false, { outward: 404 }),
    fact(413, anthropic("request_too_large"), "upstream_rejected", false, { outward: 413 }),
    fact(429, anthropic("rate_limit_error"), "upstream_rate_limited", true, {
      headers: { "retry-after": "3" },
      retryAfterMs: 3_000,
    }),
    fact(500, anthropic("api_error"), "upstream_failed", true),
    fact(504, anthropic("timeout_error"), "upstream_timeout", true),
    fact(529, anthropic("overloaded_error"), "upstream_overloaded", true, { outward: 503 }),
  ],
  "vertex-claude": [
    fact(429, anthropic("rate_limit_error"), "upstream_rate_limited", true),
    fact(
      400,
      anthropic("invalid_request_error", "prompt is too long"),
      "context_length_exceeded",
      false,
    ),
    fact(
      400,
      anthropic("invalid_request_error", "Output blocked by content filtering policy"),
      "content_policy_violation",
      false,
    ),
    fact(403, google(403, "PERMISSION_DENIED"), "upstream_auth_failed", false),
  ],
  ...Object.fromEntries(
    ["gemini", "vertex"].map((name) => [
      name,
      [
        fact(400, google(400, "INVALID_ARGUMENT"), "upstream_rejected", false),
        fact(
          400,
          google(
            400,
            "INVALID_ARGUMENT",
            "The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).",
          ),
          "context_length_exceeded",
          false,
        ),
        fact(
          400,
          google(400, "INVALID_ARGUMENT", "API key not valid.", [
            { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "API_KEY_INVALID" },
          ]),
          "upstream_auth_failed",
          false,
        ),
        fact(
          400,
          google(
            400,
            "INVALID_ARGUMENT",
            "The prompt could not be submitted. It violates our Responsible AI practices.",
          ),
          "content_policy_violation",
          false,
        ),
        fact(401, google(401, "UNAUTHENTICATED"), "upstream_auth_failed", false),
        fact(403, google(403, "PERMISSION_DENIED"), "upstream_auth_failed", false),
        fact(404, google(404, "NOT_FOUND"), "upstream_rejected", false, { outward: 404 }),
        fact(
          429,
          google(429, "RESOURCE_EXHAUSTED", "No.", [
            { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "12s" },
          ]),
          "upstream_rate_limited",
          true,
          { retryAfterMs: 12_000 },
        ),
        fact(429, [google(429, "RESOURCE_EXHAUSTED")], "upstream_rate_limited", true),
        fact(500, google(500, "INTERNAL"), "upstream_failed", true),
        fact(503, google(503, "UNAVAILABLE"), "upstream_overloaded", true),
        fact(504, google(504, "DEADLINE_EXCEEDED"), "upstream_timeout", true),
      ],
    ]),
  ),
  bedrock: [
    aws("ValidationException", 400, "upstream_rejected", false),
    aws(
      "ValidationException",
      400,
      "context_length_exceeded",
      false,
      "Input is too long for requested model.",
    ),
    aws(
      "ValidationException",
      400,
      "context_length_exceeded",
      false,
      "too many tokens: 300000 > 200000",
    ),
    aws(
      "ValidationException",
      400,
      "context_length_exceeded",
      false,
      "expected maxLength: 50000, actual: 60000",
    ),
    aws(
      "ValidationException",
      400,
      "content_policy_violation",
      false,
      "Output blocked by content filtering policy",
    ),
    aws(
      "ValidationException",
      400,
      "content_policy_violation",
      false,
      "This request has been blocked by our content filters. It may conflict with our AWS Responsible AI Policy.",
    ),
    aws("AccessDeniedException", 403, "upstream_auth_failed", false),
    aws(
      "AccessDeniedException",
      403,
      "upstream_model_denied",
      false,
      "You don't have access to the model with the specified model ID.",
    ),
    aws("UnrecognizedClientException", 403, "upstream_auth_failed", false),
    aws("ExpiredTokenException", 403, "upstream_auth_failed", false),
    aws("ResourceNotFoundException", 404, "upstream_rejected", false),
    aws("ModelTimeoutException", 408, "upstream_timeout", true),
    aws("ModelErrorException", 424, "upstream_failed", true),
    aws("ModelNotReadyException", 429, "upstream_overloaded", true),
    aws("ThrottlingException", 429, "upstream_rate_limited", true),
    aws("ServiceQuotaExceededException", 400, "upstream_rate_limited", false),
    aws("InternalServerException", 500, "upstream_failed", true),
    aws("ServiceUnavailableException", 503, "upstream_overloaded", true),
    fact(
      429,
      { __type: "com.amazon.coral.service#ThrottlingException", Message: "No." },
      "upstream_rate_limited",
      true,
    ),
  ],
  mistral: [
    fact(
      400,
      {
        object: "error",
        message: "Bad.",
        type: "invalid_request_error",
        param: null,
        code: "3051",
      },
      "upstream_rejected",
      false,
    ),
    fact(
      400,
      {
        object: "error",
        message:
          "Prompt contains 40000 tokens, too large for model with 32768 maximum context length",
        type: "invalid_request_prompt",
        code: "3051",
      },
      "context_length_exceeded",
      false,
    ),
    fact(
      422,
      {
        detail: [
          {
            type: "extra_forbidden",
            loc: ["body", "user"],
            msg: "Extra inputs are not permitted",
            input: "x",
          },
        ],
      },
      "upstream_rejected",
      false,
      { outward: 422 },
    ),
    fact(
      422,
      {
        object: "error",
        message: { detail: [{ type: "missing", loc: ["body", "model"], msg: "Field required" }] },
        type: "invalid_request_error",
      },
      "upstream_rejected",
      false,
      { outward: 422 },
    ),
    fact(401, { detail: "Unauthorized" }, "upstream_auth_failed", false),
    fact(
      429,
      {
        object: "error",
        message: "Requests rate limit exceeded",
        type: "rate_limited",
        code: "1300",
      },
      "upstream_rate_limited",
      true,
    ),
    fact(
      500,
      {
        object: "error",
        message: "Service unavailable.",
        type: "internal_server_error",
        code: "1000",
      },
      "upstream_failed",
      true,
    ),
    fact(503, { object: "error", message: "Service unavailable." }, "upstream_overloaded", true),
  ],
  cohere: [
    fact(400, { id: "1", message: "invalid request: bad" }, "upstream_rejected", false),
    fact(
      400,
      { message: "too many tokens: total number of tokens in the prompt cannot exceed 128000" },
      "context_length_exceeded",
      false,
    ),
    fact(401, { message: "invalid api token" }, "upstream_auth_failed", false),
    fact(404, { message: "model not found" }, "upstream_rejected", false, { outward: 404 }),
    fact(422, { message: "unknown field" }, "upstream_rejected", false, { outward: 422 }),
    fact(429, { message: "Please wait and try again later" }, "upstream_rate_limited", true),
    fact(
      429,
      { message: "You are using a Trial key, which is limited to 1000 API calls / month." },
      "upstream_rate_limited",
      false,
    ),
    fact(498, { message: "invalid token" }, "upstream_auth_failed", false),
    fact(498, { message: "blocked input: toxic" }, "content_policy_violation", false),
    fact(499, { message: "request cancelled" }, "upstream_failed", false),
    fact(500, { message: "internal" }, "upstream_failed", true),
    fact(503, { message: "overloaded" }, "upstream_overloaded", true),
  ],
  xai: [
    ...REFERENCE,
    fact(
      400,
      {
        code: "Client specified an invalid argument",
        error: "Argument not supported on this model: stop",
      },
      "upstream_rejected",
      false,
    ),
    fact(
      400,
      {
        code: "Client specified an invalid argument",
        error: "Incorrect API key provided: xai-***.",
      },
      "upstream_auth_failed",
      false,
    ),
    fact(
      400,
      {
        code: "Client specified an invalid argument",
        error:
          "This model's maximum prompt length is 131072 but the request contains 140000 tokens.",
      },
      "context_length_exceeded",
      false,
    ),
    fact(
      403,
      {
        code: "The caller does not have permission to execute the specified operation",
        error: "Content violates usage guidelines.",
      },
      "content_policy_violation",
      false,
    ),
    fact(
      429,
      { code: "Some resource has been exhausted", error: "Too many requests" },
      "upstream_rate_limited",
      true,
    ),
  ],
  groq: [
    ...REFERENCE,
    fact(
      400,
      {
        error: {
          message: "Failed to call a function.",
          type: "invalid_request_error",
          code: "tool_use_failed",
          failed_generation: "<function",
        },
      },
      "upstream_rejected",
      false,
    ),
    fact(
      413,
      {
        error: {
          message: "Request too large for model",
          type: "tokens",
          code: "request_too_large",
        },
      },
      "upstream_rejected",
      false,
      { outward: 413 },
    ),
    fact(
      413,
      {
        error: {
          message: "Please reduce the length: the maximum context length is 8192.",
          type: "tokens",
          code: "request_too_large",
        },
      },
      "context_length_exceeded",
      false,
    ),
    fact(
      498,
      {
        error: {
          message: "Flex capacity exceeded",
          type: "capacity_exceeded",
          code: "capacity_exceeded",
        },
      },
      "upstream_overloaded",
      true,
    ),
  ],
  fireworks: [
    ...REFERENCE,
    fact(
      400,
      {
        error: {
          object: "error",
          type: "invalid_request_error",
          message: "The prompt is too long: 8200, model maximum context length: 8191",
        },
      },
      "context_length_exceeded",
      false,
    ),
    fact(400, { error: "Bad request." }, "upstream_rejected", false),
    fact(
      500,
      { error: { object: "error", type: "internal_server_error", message: "No." } },
      "upstream_failed",
      true,
    ),
  ],
  deepseek: [
    ...REFERENCE,
    fact(402, openai("Insufficient Balance"), "upstream_auth_failed", false),
    fact(400, openai("Content Exists Risk"), "content_policy_violation", false),
    fact(
      400,
      openai(
        "This model's maximum context length is 65536 tokens. However, you requested 70000 tokens.",
      ),
      "context_length_exceeded",
      false,
    ),
    fact(422, openai("Invalid parameters."), "upstream_rejected", false, { outward: 422 }),
  ],
  together: [
    ...REFERENCE,
    fact(
      422,
      openai(
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000 `inputs` tokens",
      ),
      "context_length_exceeded",
      false,
    ),
  ],
  lmstudio: [
    ...REFERENCE,
    fact(
      400,
      {
        error:
          "Trying to keep the first 5000 tokens when the model is loaded with context length of only 4096 tokens.",
      },
      "context_length_exceeded",
      false,
    ),
  ],
  perplexity: [
    ...REFERENCE,
    fact(
      422,
      { detail: [{ loc: ["body", "messages"], msg: "Field required", type: "missing" }] },
      "upstream_rejected",
      false,
    ),
  ],
  openrouter: [
    fact(400, { error: { code: 400, message: "Bad." } }, "upstream_rejected", false),
    fact(
      400,
      { error: { code: 400, message: "This endpoint's maximum context length is 200000 tokens." } },
      "context_length_exceeded",
      false,
    ),
    fact(401, { error: { code: 401, message: "No auth." } }, "upstream_auth_failed", false),
    fact(
      402,
      { error: { code: 402, message: "Insufficient credits" } },
      "upstream_auth_failed",
      false,
    ),
    fact(
      403,
      {
        error: {
          code: 403,
          message: "Flagged.",
          metadata: {
            reasons: ["violence"],
            flagged_input: "x",
            provider_name: "P",
            model_slug: "m",
          },
        },
      },
      "content_policy_violation",
      false,
    ),
    fact(408, { error: { code: 408, message: "Timed out." } }, "upstream_timeout", true),
    fact(429, { error: { code: 429, message: "Slow down." } }, "upstream_rate_limited", true),
    fact(
      502,
      {
        error: {
          code: 502,
          message: "Provider returned error",
          metadata: { provider_name: "P", raw: "oops" },
        },
      },
      "upstream_failed",
      true,
    ),
    fact(
      503,
      { error: { code: 503, message: "No provider is available." } },
      "upstream_overloaded",
      true,
    ),
  ],
  ollama: [
    fact(
      404,
      {
        error: {
          message: "model 'x' not found, try pulling it first",
          type: "api_error",
          param: null,
          code: null,
        },
      },
      "upstream_rejected",
      false,
      { outward: 404 },
    ),
    fact(
      400,
      {
        error: {
          code: 400,
          message: "the request exceeds the available context size",
          type: "exceed_context_size_error",
        },
      },
      "context_length_exceeded",
      false,
    ),
    fact(404, { error: "model 'x' not found" }, "upstream_rejected", false, { outward: 404 }),
    fact(500, { error: "llama runner process has terminated" }, "upstream_failed", true),
  ],
  vllm: [
    fact(
      400,
      {
        object: "error",
        message: "This model's maximum context length is 4096 tokens.",
        type: "BadRequestError",
        param: null,
        code: 400,
      },
      "context_length_exceeded",
      false,
    ),
    fact(
      400,
      {
        error: {
          message: "This model's maximum context length is 4096 tokens.",
          type: "BadRequestError",
          param: "input_tokens",
          code: 400,
        },
      },
      "context_length_exceeded",
      false,
    ),
    fact(
      404,
      { object: "error", message: "The model does not exist.", type: "NotFoundError", code: 404 },
      "upstream_rejected",
      false,
      { outward: 404 },
    ),
  ],
  stability: [
    fact(400, { id: "1", name: "bad_request", message: "Bad." }, "upstream_rejected", false),
    fact(
      400,
      { id: "1", name: "invalid_prompts", message: "Invalid prompts detected" },
      "content_policy_violation",
      false,
    ),
    fact(
      400,
      { id: "1", name: "bad_request", errors: ["prompt: cannot be blank"] },
      "upstream_rejected",
      false,
    ),
    fact(
      401,
      { id: "1", name: "unauthorized", message: "Incorrect API key" },
      "upstream_auth_failed",
      false,
    ),
    fact(
      402,
      { id: "1", name: "payment_required", errors: ["You lack sufficient credits"] },
      "upstream_auth_failed",
      false,
    ),
    fact(
      403,
      { id: "1", name: "content_moderation", errors: ["Your request was flagged"] },
      "content_policy_violation",
      false,
    ),
    fact(
      413,
      { id: "1", name: "content_too_large", errors: ["Too large"] },
      "upstream_rejected",
      false,
    ),
    fact(
      429,
      { id: "1", name: "rate_limit_exceeded", errors: ["Too many requests"] },
      "upstream_rate_limited",
      true,
    ),
    fact(500, { id: "1", name: "internal_error", errors: ["Oops"] }, "upstream_failed", true),
  ],
};
