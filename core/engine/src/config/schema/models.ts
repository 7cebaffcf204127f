/** The section `models:` of gateway.yaml. */

import type { BalanceStrategy, FallbackClass, JsonObject, JsonSchema, ModelMode } from "@sluice/spec";

import { type PriceSection, priceSchema } from "./prices.ts";

const FEW: JsonObject = { type: "array", items: { type: "string", minLength: 1, description: "One name." } };
const NAMES: JsonObject = { ...FEW, default: [] };
const fallback = (when: string): JsonObject => ({ ...NAMES, description: `Model ids, in order, for ${when}.` });
/** Without a default: an absent list is no empty one. */
const partOfGeneral = (when: string): JsonObject => ({
  ...FEW,
  description: `Model ids, in order, for ${when}. Absent: those of \`general\`; \`[]\`: none.`,
});
const tokens = (what: string): JsonObject => ({ type: "integer", minimum: 1, description: `${what}, in tokens.` });
const supports = (what: string): JsonObject => ({ type: "boolean", description: `Whether the model takes or gives ${what}.` });

/** What a model may be said to support, in LiteLLM's words. */
const SUPPORTS: JsonObject = {
  supports_function_calling: supports("tool calls"),
  supports_parallel_function_calling: supports("several tool calls in one reply"),
  supports_tool_choice: supports("`tool_choice`"),
  supports_response_schema: supports("structured output"),
  supports_system_messages: supports("system messages"),
  supports_native_streaming: supports("streams"),
  supports_reasoning: supports("reasoning"),
  supports_assistant_prefill: supports("an assistant message that the reply goes on with"),
  supports_prompt_caching: supports("prompt caching"),
  supports_vision: supports("images in the prompt"),
  supports_pdf_input: supports("documents in the prompt"),
  supports_audio_input: supports("audio in the prompt"),
  supports_audio_output: supports("audio in the reply"),
  supports_video_input: supports("video in the prompt"),
  supports_web_search: supports("web search"),
};

/** The schema of one entry of `models:`. */
export const modelSchema: JsonSchema = {
  type: "object",
  description: "A model that clients may name.",
  additionalProperties: false,
  required: ["id", "targets"],
  properties: {
    id: {
      type: "string",
      minLength: 1,
      description: "The id clients ask for. A `*` at its end makes a wildcard: the rest of the id is the upstream's model.",
    },
    mode: {
      type: "string",
      enum: ["chat", "embeddings", "images", "embedding", "image"],
      default: "chat",
      description: "What the model does, in the words of a pipeline's `operation`. `embedding` and `image` mean the same.",
    },
    targets: {
      type: "array",
      minItems: 1,
      description: "Where the model is served, in the order of preference.",
      items: {
        type: "object",
        description: "A provider and the model's name there.",
        additionalProperties: false,
        required: ["provider", "model"],
        properties: {
          provider: { type: "string", minLength: 1, description: "A name from `providers`." },
          model: {
            type: "string",
            minLength: 1,
            description: "The model's name at the provider; `*` takes what the wildcard matched.",
          },
          drop_params: {
            type: "boolean",
            default: false,
            description: "Drops parameters that the provider cannot honour; else they are refused.",
          },
          forward_metadata: {
            type: "boolean",
            default: false,
            description: "Sends the request's metadata to the provider, without what steers the gateway.",
          },
          forward: {
            type: "array",
            uniqueItems: true,
            items: { type: "string", minLength: 1 },
            description:
              "Fields of the request that let the provider choose models or tools itself, and may go to it; else they are refused. Example: `[provider, transforms]` for OpenRouter.",
          },
          weight: {
            type: "integer",
            minimum: 0,
            maximum: 1_000_000,
            default: 1,
            description: "The share of the requests, beside the other targets' weights; 0 serves only when no other can.",
          },
          priority: {
            type: "integer",
            default: 0,
            description: "For the strategy `priority`: the lowest number that can serve is chosen.",
          },
          max_parallel: {
            type: "integer",
            minimum: 1,
            description: "Requests at the same time at most, in this process. Absent: any number.",
          },
          queue: {
            type: "integer",
            minimum: 0,
            maximum: 100_000,
            default: 0,
            description: "Requests that may wait when `max_parallel` is reached and no other target has room.",
          },
          queue_timeout: {
            type: "string",
            format: "duration",
            default: "5s",
            description: "How long a request may wait in the queue.",
          },
          rpm: {
            type: "integer",
            minimum: 1,
            description:
              "Requests in any minute that it may get: beyond them the step balance goes to another. Needs the step limits.",
          },
          tpm: {
            type: "integer",
            minimum: 1,
            description:
              "Tokens in any minute that it may get: beyond them the step balance goes to another. Needs the step limits.",
          },
          price: { ...priceSchema, description: "What the target costs. Wins over prices.yaml and the built-in table." },
        },
      },
    },
    balance: {
      type: "string",
      enum: ["weighted", "priority", "least_busy", "lowest_latency", "lowest_cost", "sticky"],
      description: "How one of the targets is chosen. Absent: as the step `balance` of the pipeline says.",
    },
    access_groups: { ...NAMES, description: "Groups a key may name instead of the model's id." },
    only_named: {
      type: "boolean",
      default: false,
      description: "Only the master key and keys or teams whose `models` name it reach the model; keys without a list do not.",
    },
    fallbacks: {
      type: "object",
      description:
        "Models named in the model's metadata as those that stand in for it, by the class of the failure. Example: `{ general: [gpt-4o-mini] }`.",
      "x-example": "{ general: [gpt-4o-mini] }",
      additionalProperties: false,
      properties: {
        general: fallback("failures of no other class"),
        context_window: fallback("prompts that do not fit the model"),
        content_policy: fallback("prompts that the upstream's policy refuses"),
        rate_limit: partOfGeneral("upstreams that answer 429"),
        overloaded: partOfGeneral("upstreams that are overloaded (503, 529), and deployments without room"),
        timeout: partOfGeneral("upstreams that do not answer in time"),
      },
    },
    info: {
      type: "object",
      description: "What clients are told of the model. Wins over what the gateway knows by itself.",
      additionalProperties: false,
      properties: {
        max_input_tokens: tokens("The longest prompt"),
        max_output_tokens: tokens("The longest completion"),
        ...SUPPORTS,
      },
    },
  },
};

/** One entry of `models:` after validation. */
export interface ModelSection {
  readonly id: string;
  readonly mode: ModelMode;
  readonly targets: readonly TargetSection[];
  readonly balance?: BalanceStrategy;
  readonly access_groups: readonly string[];
  readonly only_named: boolean;
  readonly fallbacks?: Readonly<Partial<Record<FallbackClass, readonly string[]>>>;
  readonly info?: InfoSection;
}

/** One target after validation. */
export interface TargetSection {
  readonly provider: string;
  readonly model: string;
  readonly price?: PriceSection;
  readonly drop_params?: boolean;
  readonly forward_metadata?: boolean;
  readonly forward?: readonly string[];
  readonly weight: number;
  readonly priority: number;
  readonly max_parallel?: number;
  readonly queue: number;
  readonly queue_timeout: string;
  readonly rpm?: number;
  readonly tpm?: number;
}

/** What the operator says of a model. Every key but the first two begins with `supports_`. */
export type InfoSection = Readonly<Record<`supports_${string}`, boolean>> & {
  readonly max_input_tokens?: number;
  readonly max_output_tokens?: number;
};
