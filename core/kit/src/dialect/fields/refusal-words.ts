/**
 * The codes and texts by which upstreams refuse a prompt, for its content or its length. Data: one
 * row for each code or text, with the upstreams that send it and the source.
 */

/** The class of a refusal. */
export type RefusalClass = "context_window" | "content_policy";

/**
 * One code or one text. A code is compared whole with `code`, `type`, a name or an inner code. A
 * text is searched in the message.
 */
export type RefusalRow = {
  readonly means: RefusalClass;
  /** The upstreams that send it, and the place of their documentation. */
  readonly source: string;
} & (
  | { readonly code: string; readonly text?: never }
  | { readonly text: RegExp; readonly code?: never }
);

const context = (text: RegExp, source: string): RefusalRow => ({
  means: "context_window",
  text,
  source,
});
const policy = (text: RegExp, source: string): RefusalRow => ({
  means: "content_policy",
  text,
  source,
});
const contextCode = (code: string, source: string): RefusalRow => ({
  means: "context_window",
  code,
  source,
});
const policyCode = (code: string, source: string): RefusalRow => ({
  means: "content_policy",
  code,
  source,
});

export const REFUSAL_WORDS: readonly RefusalRow[] = [
  contextCode(
    "context_length_exceeded",
    "OpenAI, Azure, Groq, DeepSeek: platform.openai.com/docs/guides/error-codes",
  ),
  contextCode(
    "string_above_max_length",
    "OpenAI, Azure: openai-python, `BadRequestError` of a too long text",
  ),
  contextCode(
    "exceed_context_size_error",
    "llama.cpp: tools/server/README.md, `ERROR_TYPE_EXCEED_CONTEXT_SIZE`",
  ),
  context(
    /context[_ ](?:length|window|limit)|maximum context/,
    "OpenAI, Azure, DeepSeek, OpenRouter, vLLM, LM Studio, Mistral",
  ),
  context(/maximum (?:prompt|input) length/, "xAI (prompt), OpenAI embeddings (input): their 400"),
  context(
    /prompt is too long/,
    "Anthropic (docs.anthropic.com/en/api/errors), Claude on Vertex, Fireworks",
  ),
  context(
    /input length and .?max_tokens.? exceed/,
    "Anthropic: docs.anthropic.com/en/docs/build-with-claude/context-windows",
  ),
  context(
    /input is too long|too many total text bytes|expected max(?:imum)? ?length/,
    "Bedrock: `ValidationException`",
  ),
  context(
    /too many (?:input )?tokens/,
    "Bedrock, Cohere (docs.cohere.com/reference/errors), Titan embeddings",
  ),
  context(/exceeds? the (?:maximum|model'?s)[^.]{0,40}token/, "Gemini, Vertex, Perplexity"),
  context(
    /token count[^.]{0,60}exceeds|only supports up to \d+/,
    "Gemini, Vertex: `INVALID_ARGUMENT`",
  ),
  context(/exceeds the available context size/, "llama.cpp and servers built on it"),
  context(
    /.inputs. tokens \+ .max_new_tokens. must be/,
    "Together, Text Generation Inference: `Input validation error`",
  ),

  policyCode(
    "content_policy_violation",
    "OpenAI, Azure: images (platform.openai.com/docs/guides/error-codes)",
  ),
  policyCode(
    "content_filter",
    "Azure: learn.microsoft.com/azure/ai-services/openai/concepts/content-filter",
  ),
  policyCode("contentFilter", "Azure: images, the same page"),
  policyCode("ResponsibleAIPolicyViolation", "Azure: inner code, the same page"),
  policyCode(
    "moderation_blocked",
    "OpenAI: gpt-image (platform.openai.com/docs/guides/image-generation)",
  ),
  policyCode(
    "data_inspection_failed",
    "Model Studio of Alibaba Cloud: help.aliyun.com/zh/model-studio/error-code",
  ),
  policyCode("content_moderation", "Stability: platform.stability.ai/docs/api-reference, 403"),
  policyCode("invalid_prompts", "Stability: engines of the v1 API, 400"),
  policy(
    /content[_ ]?(?:policy|filter|management)/,
    "OpenAI, Azure, Anthropic (`Output blocked by content filtering policy`), Bedrock",
  ),
  policy(/safety (?:system|policy)/, "OpenAI images: `rejected as a result of our safety system`"),
  policy(
    /usage (?:polic|guideline)|content violates/,
    "OpenAI reasoning models; xAI: 403 `Content violates usage guidelines`",
  ),
  policy(/content exists risk/, "DeepSeek: 400 `Content Exists Risk`"),
  policy(
    /(?:input|prompt|request|content|image) (?:was|has been|is) flagged/,
    "OpenRouter: openrouter.ai/docs/api/reference/errors-and-debugging",
  ),
  policy(
    /content moderation|moderation (?:system|polic|filter|check)|by (?:our |the )?moderation/,
    "OpenAI, OpenRouter, Mistral",
  ),
  policy(
    /responsible ?ai/,
    "Azure; Imagen and Gemini images (`Responsible AI practices`), Bedrock images",
  ),
  policy(
    /blocked (?:input|output)|toxic (?:input|output|content|prompt)/,
    "Cohere: docs.cohere.com/reference/errors, 498",
  ),
];
