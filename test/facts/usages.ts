/**
 * Every shape of a native usage, and what it means: prompt with what the cache had, completion with
 * the thoughts. Data.
 */

import type { JsonObject, Usage } from "@sluice/contract";

/** A native usage by provider, and the gateway's. */
export const USAGES: readonly (readonly [
  provider: string,
  what: string,
  native: JsonObject,
  usage: Partial<Usage>,
])[] = [
  ...["openai", "azure", "together", "fireworks", "custom"].map(
    (name) =>
      [
        name,
        "cached and reasoning within the totals",
        {
          prompt_tokens: 100,
          completion_tokens: 20,
          total_tokens: 120,
          prompt_tokens_details: { cached_tokens: 40, audio_tokens: 5 },
          completion_tokens_details: { reasoning_tokens: 8, audio_tokens: 3 },
        },
        {
          promptTokens: 100,
          completionTokens: 20,
          totalTokens: 120,
          cachedTokens: 40,
          reasoningTokens: 8,
          audioPromptTokens: 5,
          audioCompletionTokens: 3,
        },
      ] as const,
  ),
  [
    "openai",
    "cache writes within the prompt",
    {
      prompt_tokens: 100,
      completion_tokens: 1,
      total_tokens: 101,
      prompt_tokens_details: { cached_tokens: 40, cache_write_tokens: 30 },
    },
    { promptTokens: 100, cachedTokens: 40, cacheWriteTokens: 30 },
  ],
  ...["anthropic", "vertex-claude"].map(
    (name) =>
      [
        name,
        "the cache beside the input, thoughts within the output, steps not on top",
        {
          input_tokens: 10,
          cache_read_input_tokens: 40,
          cache_creation_input_tokens: 50,
          cache_creation: { ephemeral_5m_input_tokens: 30, ephemeral_1h_input_tokens: 20 },
          output_tokens: 20,
          output_tokens_details: { thinking_tokens: 8 },
          iterations: [{ type: "message", input_tokens: 10, output_tokens: 20 }],
          server_tool_use: { web_search_requests: 2 },
        },
        {
          promptTokens: 100,
          completionTokens: 20,
          totalTokens: 120,
          cachedTokens: 40,
          cacheWriteTokens: 50,
          cacheWrite1hTokens: 20,
          reasoningTokens: 8,
        },
      ] as const,
  ),
  [
    "bedrock",
    "the cache beside the input",
    {
      inputTokens: 10,
      outputTokens: 20,
      totalTokens: 120,
      cacheReadInputTokens: 40,
      cacheWriteInputTokens: 50,
    },
    {
      promptTokens: 100,
      completionTokens: 20,
      totalTokens: 120,
      cachedTokens: 40,
      cacheWriteTokens: 50,
    },
  ],
  ...["gemini", "vertex"].map(
    (name) =>
      [
        name,
        "thoughts beside the candidates, uses of tools beside the prompt",
        {
          promptTokenCount: 90,
          toolUsePromptTokenCount: 10,
          cachedContentTokenCount: 40,
          candidatesTokenCount: 12,
          thoughtsTokenCount: 8,
          totalTokenCount: 120,
        },
        {
          promptTokens: 100,
          completionTokens: 20,
          totalTokens: 120,
          cachedTokens: 40,
          reasoningTokens: 8,
        },
      ] as const,
  ),
  [
    "vertex",
    "the kind of traffic",
    {
      promptTokenCount: 9,
      candidatesTokenCount: 1,
      totalTokenCount: 10,
      trafficType: "ON_DEMAND_PRIORITY",
    },
    { promptTokens: 9, completionTokens: 1, serviceTier: "priority" },
  ],
  [
    "xai",
    "reasoning beside the completion",
    {
      prompt_tokens: 100,
      completion_tokens: 12,
      total_tokens: 120,
      prompt_tokens_details: { cached_tokens: 40 },
      completion_tokens_details: { reasoning_tokens: 8 },
    },
    {
      promptTokens: 100,
      completionTokens: 20,
      totalTokens: 120,
      cachedTokens: 40,
      reasoningTokens: 8,
    },
  ],
  [
    "xai",
    "more cached than there is prompt",
    {
      prompt_tokens: 60,
      completion_tokens: 20,
      total_tokens: 80,
      prompt_tokens_details: { cached_tokens: 70 },
    },
    { promptTokens: 130, completionTokens: 20, totalTokens: 150, cachedTokens: 70 },
  ],
  [
    "cohere",
    "the tokens that the model read, and the units that are billed",
    {
      billed_units: { input_tokens: 100, output_tokens: 20 },
      tokens: { input_tokens: 600, output_tokens: 22 },
      cached_tokens: 40,
    },
    {
      promptTokens: 600,
      completionTokens: 22,
      totalTokens: 622,
      cachedTokens: 40,
      billed: { promptTokens: 100, completionTokens: 20 },
    },
  ],
  [
    "cohere",
    "cached tokens beyond the billed units",
    {
      billed_units: { input_tokens: 91, output_tokens: 20 },
      tokens: { input_tokens: 2_400, output_tokens: 20 },
      cached_tokens: 2_000,
    },
    {
      promptTokens: 2_400,
      cachedTokens: 2_000,
      billed: { promptTokens: 91, completionTokens: 20 },
    },
  ],
  [
    "cohere",
    "tokens alone",
    { tokens: { input_tokens: 100, output_tokens: 20 } },
    { promptTokens: 100, completionTokens: 20 },
  ],
  ...[
    { num_cached_tokens: 40 },
    { prompt_tokens_details: { cached_tokens: 40 } },
    { prompt_token_details: { cached_tokens: 40 } },
    { prompt_tokens_details: { cached_tokens: 40 }, num_cached_tokens: 99 },
  ].map(
    (cached) =>
      [
        "mistral",
        `cached in ${Object.keys(cached).join(" and ")}`,
        { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120, ...cached } as JsonObject,
        { promptTokens: 100, completionTokens: 20, cachedTokens: 40 },
      ] as const,
  ),
  [
    "deepseek",
    "hits and misses",
    {
      prompt_tokens: 100,
      completion_tokens: 20,
      total_tokens: 120,
      prompt_cache_hit_tokens: 40,
      prompt_cache_miss_tokens: 60,
      completion_tokens_details: { reasoning_tokens: 8 },
    },
    { promptTokens: 100, completionTokens: 20, cachedTokens: 40, reasoningTokens: 8 },
  ],
  [
    "groq",
    "in x_groq",
    {
      queue_time: 0.06,
      prompt_tokens: 100,
      completion_tokens: 20,
      total_tokens: 120,
      prompt_tokens_details: { cached_tokens: 40 },
    },
    { promptTokens: 100, completionTokens: 20, totalTokens: 120, cachedTokens: 40 },
  ],
  [
    "openrouter",
    "a cost beside the tokens",
    {
      prompt_tokens: 100,
      completion_tokens: 20,
      total_tokens: 120,
      cost: 0.0012,
      cost_details: { upstream_inference_cost: 0.001 },
      prompt_tokens_details: { cached_tokens: 40 },
    },
    { promptTokens: 100, completionTokens: 20, totalTokens: 120, cachedTokens: 40 },
  ],
  [
    "custom",
    "cached beside the totals (Moonshot)",
    { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120, cached_tokens: 40 },
    { promptTokens: 100, cachedTokens: 40 },
  ],
  [
    "perplexity",
    "reasoning beside the totals, searches",
    {
      prompt_tokens: 100,
      completion_tokens: 20,
      total_tokens: 120,
      reasoning_tokens: 8,
      num_search_queries: 3,
    },
    { promptTokens: 100, completionTokens: 20, totalTokens: 120, reasoningTokens: 8 },
  ],
  [
    "ollama",
    "totals alone",
    { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 },
    { promptTokens: 9, completionTokens: 3, totalTokens: 12 },
  ],
];
