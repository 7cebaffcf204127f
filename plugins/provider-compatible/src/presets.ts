/**
 * Deviations of providers that speak the OpenAI format. Data: a row each, with its source. A
 * deviation that is visible in the reply (a usage in another place, calls without ids) needs no
 * row: `ChunkRepairer` of the kit detects it.
 */

import type { Compatible } from "@sluice/kit/openai";
import type { Feature, JsonObject, NativeEndpoint, Operation } from "@sluice/contract";

/** One provider. An absent member means the OpenAI API's behaviour. */
export interface Preset {
  /** The base address of the API; absent: the operator sets it. */
  readonly baseUrl?: string;
  /** A key is needed. Servers of one's own need none. */
  readonly needsKey?: true;
  /** The name in the price table. */
  readonly priceAs?: string;
  /** Absent: chat. */
  readonly operations?: readonly Operation[];
  readonly hasNoTools?: true;
  /** Parameters of the reference dialect that it refuses or does not heed. */
  readonly refused: readonly string[];
  /** Fields of its own that gateways know as well: `priority`. */
  readonly native?: readonly string[];
  /**
   * Fields of its own that choose other models, or tools that cost: refused unless the target
   * forwards them.
   */
  readonly steering?: readonly string[];
  /** Other names of parameters. */
  readonly renamed?: Readonly<Record<string, string>>;
  /** Members that go along where the client sends none. */
  readonly defaults?: JsonObject;
  /** The upstream has JSON mode, and no schemas. */
  readonly hasNoSchema?: true;
  /** Supported blocks of messages besides text. Absent: all; the provider refuses the others. */
  readonly blocks?: readonly string[];
  /** Refuses `name` in a message. */
  readonly hasNoNames?: true;
  /** Has no role `developer`. */
  readonly hasNoDeveloper?: true;
  /**
   * The member for an assistant's thoughts in a request; absent: `reasoning_content`. `none`: they
   * are left out.
   */
  readonly thoughts?: "reasoning" | "none";
  /**
   * Accepts any member of a message. Absent: members that the gateway adds to replies of other
   * providers are removed.
   */
  readonly takesAnyMember?: true;
  /** The longest id of a call. */
  readonly maxIdCharacters?: number;
  /** Takes a budget of thoughts as `reasoning: {max_tokens}`. */
  readonly budget?: "reasoning";
  /** It always sends the usage, and has no `stream_options`. */
  readonly tellsUsage?: true;
  /** Finish reasons of its own; `overloaded` is a failure. */
  readonly finish?: Compatible.OwnFinishReasons;
  readonly errors?: Compatible.ErrorWords;
  /** Image requests have `width`, `height` and `response_format: base64`. */
  readonly images?: "pixels";
  /** Its own API beside OpenAI's endpoints. Absent: nothing is known of it. */
  readonly nativeApi?: {
    readonly endpoints: readonly NativeEndpoint[];
    /** First segments of paths beside the version, not below it. */
    readonly prefixes?: readonly string[];
  };
  /** Features that none of its models has. */
  readonly lacks?: readonly Feature[];
}

/** Parameters that only OpenAI's own models know. */
const OPENAI_ONLY = [
  "prediction",
  "modalities",
  "audio",
  "verbosity",
  "store",
  "web_search_options",
  "safety_identifier",
  "prompt_cache_retention",
];
const LEGACY_TOOLS = ["functions", "function_call"];
const IMAGE_ONLY = ["quality", "style", "background", "output_compression", "moderation"];
/** Servers of one's own. */
const LOCAL = {
  operations: ["chat", "embeddings"],
  refused: [...OPENAI_ONLY, ...LEGACY_TOOLS, "thinking", "service_tier", "prompt_cache_key"],
} as const;

const RERANK: readonly NativeEndpoint[] = ["v1/rerank", "v2/rerank"].map((path) => ({
  path,
  model: "body",
  usage: "reported",
}));
/** github.com/ollama/ollama, docs/api.md. */
const OLLAMA: readonly NativeEndpoint[] = [
  { path: "api/chat", model: "body", usage: "text" },
  { path: "api/generate", model: "body", usage: "text" },
  { path: "api/embed", model: "body", usage: "prompt" },
  { path: "api/embeddings", model: "body", usage: "prompt" },
];
const VLLM: readonly NativeEndpoint[] = [
  { path: "v1/messages", model: "body", usage: "text" },
  { path: "v1/score", model: "body", usage: "reported" },
  { path: "score", model: "body", usage: "reported" },
  { path: "rerank", model: "body", usage: "reported" },
  { path: "pooling", model: "body", usage: "prompt" },
  { path: "tokenize", model: "body", usage: "free" },
];
/** lmstudio.ai/docs/app/api/endpoints/rest. */
const LMSTUDIO: readonly NativeEndpoint[] = [
  { path: "api/v0/chat/completions", model: "body", usage: "text" },
  { path: "api/v0/completions", model: "body", usage: "text" },
  { path: "api/v0/embeddings", model: "body", usage: "prompt" },
];

/** Providers by the name of their preset. */
export const PRESETS = {
  // console.groq.com/docs/openai (a 400 for logprobs, logit_bias, top_logprobs, n above 1, a name
  // in a message), docs/reasoning, docs/api-reference.
  groq: {
    nativeApi: { endpoints: [] },
    baseUrl: "https://api.groq.com/openai/v1",
    needsKey: true,
    priceAs: "groq",
    refused: [
      ...OPENAI_ONLY,
      "logprobs",
      "top_logprobs",
      "logit_bias",
      "n",
      "thinking",
      "prompt_cache_key",
    ],
    blocks: ["image_url"],
    hasNoNames: true,
    thoughts: "reasoning",
    errors: {
      "498": "overloaded",
      tool_use_failed: "bad_request",
      json_validate_failed: "bad_request",
    },
    lacks: ["audio", "documents", "speech"],
  },
  // api-docs.deepseek.com/api/create-chat-completion and guides/thinking_mode: thoughts of a turn
  // with tools must be sent back.
  deepseek: {
    nativeApi: { endpoints: [] },
    baseUrl: "https://api.deepseek.com",
    needsKey: true,
    priceAs: "deepseek",
    refused: [
      ...OPENAI_ONLY,
      ...LEGACY_TOOLS,
      "n",
      "seed",
      "logit_bias",
      "parallel_tool_calls",
      "service_tier",
      "prompt_cache_key",
    ],
    renamed: { max_completion_tokens: "max_tokens" },
    hasNoSchema: true,
    blocks: [],
    hasNoDeveloper: true,
    finish: { insufficient_system_resource: "overloaded" },
    lacks: ["images", "audio", "documents", "speech", "schema"],
  },
  // docs.x.ai/docs/api-reference: some reasoning models refuse stop and penalties. The provider
  // answers those requests. Its images have neither sizes nor styles. The quality decides the price
  // of newer models.
  xai: {
    nativeApi: { endpoints: [{ path: "v1/messages", model: "body", usage: "text" }] },
    baseUrl: "https://api.x.ai/v1",
    needsKey: true,
    priceAs: "x-ai",
    operations: ["chat", "images"],
    refused: [
      ...OPENAI_ONLY,
      ...LEGACY_TOOLS,
      ...IMAGE_ONLY.filter((name) => name !== "quality"),
      "size",
      "output_format",
      "logit_bias",
      "thinking",
      "service_tier",
      "prompt_cache_key",
    ],
    blocks: ["image_url", "file"],
    lacks: ["audio", "speech"],
  },
  // docs.together.ai/reference/chat-completions-1 and reference/post-images-generations.
  together: {
    nativeApi: { endpoints: RERANK },
    baseUrl: "https://api.together.xyz/v1",
    needsKey: true,
    priceAs: "together",
    operations: ["chat", "embeddings", "images"],
    refused: [
      ...OPENAI_ONLY,
      ...LEGACY_TOOLS,
      ...IMAGE_ONLY,
      "dimensions",
      "parallel_tool_calls",
      "top_logprobs",
      "thinking",
      "service_tier",
      "prompt_cache_key",
    ],
    renamed: { max_completion_tokens: "max_tokens" },
    hasNoDeveloper: true,
    thoughts: "reasoning",
    finish: { eos: "stop" },
    images: "pixels",
  },
  // docs.fireworks.ai/api-reference/post-chatcompletions; its SDK (fw-ai-external/python-sdk,
  // `chat/completion_create_params.py`) has predictions, seeds and the legacy functions, and takes
  // `max_completion_tokens` as another name of `max_tokens`.
  fireworks: {
    nativeApi: { endpoints: RERANK },
    baseUrl: "https://api.fireworks.ai/inference/v1",
    needsKey: true,
    priceAs: "fireworks",
    operations: ["chat", "embeddings"],
    refused: OPENAI_ONLY.filter((name) => name !== "prediction"),
    hasNoDeveloper: true,
    thoughts: "none",
  },
  // openrouter.ai/docs/api/reference: reasoning, usage accounting, errors inside a 200 and inside a
  // stream, `: OPENROUTER PROCESSING`.
  openrouter: {
    nativeApi: { endpoints: [] },
    baseUrl: "https://openrouter.ai/api/v1",
    needsKey: true,
    priceAs: "openrouter",
    refused: [
      ...LEGACY_TOOLS,
      "store",
      "safety_identifier",
      "prompt_cache_retention",
      "service_tier",
    ],
    renamed: { max_completion_tokens: "max_tokens" },
    // openrouter.ai/docs/features: model-routing (`models`, `route`), provider-routing, web-search
    // (`plugins`), message-transforms, presets.
    steering: ["models", "route", "provider", "plugins", "transforms", "preset"],
    defaults: { usage: { include: true } },
    hasNoDeveloper: true,
    thoughts: "reasoning",
    maxIdCharacters: 40,
    budget: "reasoning",
    finish: { error: "overloaded" },
  },
  // docs.perplexity.ai/api-reference/chat-completions-post: no tools; citations, search_results and
  // their usage stay as they are.
  perplexity: {
    nativeApi: { endpoints: [] },
    baseUrl: "https://api.perplexity.ai",
    needsKey: true,
    priceAs: "perplexity",
    hasNoTools: true,
    refused: [
      ...OPENAI_ONLY,
      "n",
      "stop",
      "seed",
      "logit_bias",
      "logprobs",
      "top_logprobs",
      "thinking",
      "service_tier",
      "prompt_cache_key",
    ].filter((name) => name !== "web_search_options"),
    renamed: { max_completion_tokens: "max_tokens" },
    blocks: ["image_url", "file_url"],
    hasNoDeveloper: true,
    thoughts: "none",
    tellsUsage: true,
    lacks: ["tools", "audio", "speech"],
  },
  // docs.ollama.com/api/openai-compatibility ("Supported request fields").
  ollama: {
    nativeApi: { endpoints: OLLAMA, prefixes: ["api"] },
    ...LOCAL,
    baseUrl: "http://127.0.0.1:11434/v1",
    refused: [...LOCAL.refused, "n", "logit_bias", "parallel_tool_calls", "tool_choice"],
    renamed: { max_completion_tokens: "max_tokens" },
    blocks: ["image_url"],
    hasNoDeveloper: true,
    thoughts: "reasoning",
    lacks: ["audio", "documents", "speech"],
  },
  // docs.vllm.ai/en/latest/serving/openai_compatible_server.html.
  vllm: {
    ...LOCAL,
    baseUrl: "http://127.0.0.1:8000/v1",
    native: ["priority"],
    nativeApi: { endpoints: [...RERANK, ...VLLM] },
    thoughts: "reasoning",
    finish: { abort: "overloaded" },
  },
  // lmstudio.ai/docs/app/api/endpoints/openai ("Supported payload parameters").
  lmstudio: {
    nativeApi: { endpoints: LMSTUDIO, prefixes: ["api"] },
    ...LOCAL,
    baseUrl: "http://127.0.0.1:1234/v1",
    native: ["ttl"],
    refused: [...LOCAL.refused, "n", "logprobs", "top_logprobs", "parallel_tool_calls"],
    renamed: { max_completion_tokens: "max_tokens" },
    blocks: ["image_url"],
    hasNoDeveloper: true,
    lacks: ["audio", "documents", "speech"],
  },
  // Any other server: requests are passed on unchanged, and the server refuses unsupported ones.
  custom: {
    operations: ["chat", "embeddings", "images"],
    refused: [],
    native: ["priority", "ttl", "policies"],
    takesAnyMember: true,
  },
} as const satisfies Record<string, Preset>;

/** A preset's name. */
export type PresetName = keyof typeof PRESETS;
