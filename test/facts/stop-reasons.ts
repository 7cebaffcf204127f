/** Every native stop reason, and the finish reason that a client reads. Data. */

/** A finish reason of the reference dialect, or the code of the failure that the reason means. */
export type Finish =
  | "stop"
  | "length"
  | "tool_calls"
  | "content_filter"
  | "upstream_failed"
  | "upstream_overloaded"
  | "upstream_timeout";

type Rows = Readonly<Record<string, Finish>>;

const REFERENCE: Rows = {
  stop: "stop",
  length: "length",
  tool_calls: "tool_calls",
  content_filter: "content_filter",
};
const ANTHROPIC: Rows = {
  end_turn: "stop",
  stop_sequence: "stop",
  pause_turn: "stop",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "tool_calls",
  refusal: "content_filter",
  something_new: "stop",
};
const GEMINI: Rows = {
  STOP: "stop",
  MAX_TOKENS: "length",
  SAFETY: "content_filter",
  RECITATION: "content_filter",
  BLOCKLIST: "content_filter",
  PROHIBITED_CONTENT: "content_filter",
  SPII: "content_filter",
  IMAGE_SAFETY: "content_filter",
  IMAGE_PROHIBITED_CONTENT: "content_filter",
  IMAGE_RECITATION: "content_filter",
  MALFORMED_FUNCTION_CALL: "stop",
  UNEXPECTED_TOOL_CALL: "stop",
  TOO_MANY_TOOL_CALLS: "stop",
  LANGUAGE: "stop",
  NO_IMAGE: "stop",
  IMAGE_OTHER: "stop",
  OTHER: "stop",
  FINISH_REASON_UNSPECIFIED: "stop",
  SOMETHING_NEW: "stop",
};

/** By provider. Where another is `stop`, `native_finish_reason` still says which it was. */
export const STOP_REASONS: Readonly<Record<string, Rows>> = {
  openai: REFERENCE,
  azure: REFERENCE,
  anthropic: ANTHROPIC,
  "vertex-claude": ANTHROPIC,
  gemini: GEMINI,
  vertex: GEMINI,
  bedrock: {
    end_turn: "stop",
    stop_sequence: "stop",
    max_tokens: "length",
    model_context_window_exceeded: "length",
    tool_use: "tool_calls",
    guardrail_intervened: "content_filter",
    content_filtered: "content_filter",
    malformed_model_output: "stop",
    malformed_tool_use: "stop",
    something_new: "stop",
  },
  mistral: {
    stop: "stop",
    length: "length",
    model_length: "length",
    tool_calls: "tool_calls",
    error: "upstream_failed",
  },
  cohere: {
    COMPLETE: "stop",
    STOP_SEQUENCE: "stop",
    MAX_TOKENS: "length",
    TOOL_CALL: "tool_calls",
    ERROR_TOXIC: "content_filter",
    ERROR_LIMIT: "length",
    ERROR: "upstream_failed",
    TIMEOUT: "upstream_timeout",
    SOMETHING_NEW: "stop",
  },
  deepseek: {
    ...REFERENCE,
    insufficient_system_resource: "upstream_overloaded",
    something_new: "stop",
  },
  together: { ...REFERENCE, eos: "stop", something_new: "stop" },
  groq: { ...REFERENCE, something_new: "stop" },
  xai: { ...REFERENCE, something_new: "stop" },
  fireworks: { ...REFERENCE, something_new: "stop" },
  openrouter: { ...REFERENCE, error: "upstream_overloaded", something_new: "stop" },
  perplexity: { stop: "stop", length: "length", something_new: "stop" },
  ollama: { stop: "stop", length: "length", load: "stop" },
  vllm: { ...REFERENCE, abort: "upstream_overloaded", something_new: "stop" },
  custom: { ...REFERENCE, something_new: "stop" },
};

/** Words that mean a call. Reasons that mean a plain stop do as well, when the reply holds one. */
export const CALL_WORDS: Readonly<Record<string, readonly string[]>> = {
  openai: ["tool_calls"],
  anthropic: ["tool_use"],
  gemini: ["STOP"],
  vertex: ["STOP"],
  bedrock: ["tool_use"],
  mistral: ["tool_calls", "stop"],
  cohere: ["TOOL_CALL"],
  ollama: ["stop", "tool_calls"],
  groq: ["tool_calls", "stop"],
};
