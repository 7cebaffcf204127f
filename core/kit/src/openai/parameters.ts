/**
 * The optional parameters of the reference dialect that ask a provider for something. `user` is not
 * listed: the gateway itself records it in the spend row. Data; a test of the engine compares it
 * with the tables of the ingress.
 */

import type { Operation } from "@sluice/contract";

/** Names by operation. */
export const PARAMETERS: Partial<Record<Operation, readonly string[]>> = {
  chat: [
    "temperature",
    "top_p",
    "max_tokens",
    "max_completion_tokens",
    "n",
    "stop",
    "seed",
    "presence_penalty",
    "frequency_penalty",
    "logit_bias",
    "logprobs",
    "top_logprobs",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "functions",
    "function_call",
    "response_format",
    "prediction",
    "modalities",
    "audio",
    "reasoning_effort",
    "verbosity",
    "service_tier",
    "store",
    "web_search_options",
    "thinking",
    "safety_identifier",
    "prompt_cache_key",
    "prompt_cache_retention",
  ],
  embeddings: ["encoding_format", "dimensions"],
  images: [
    "n",
    "size",
    "quality",
    "style",
    "response_format",
    "background",
    "output_format",
    "output_compression",
    "moderation",
  ],
};

/** Parameters that require a provider with tools. */
export const TOOL_PARAMETERS: readonly string[] = [
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "functions",
  "function_call",
];
