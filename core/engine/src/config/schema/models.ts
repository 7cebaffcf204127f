/** The section `models:` of gateway.yaml. */

import type { JsonObject, JsonSchema, ModelMode } from "@sluice/contract";

import { priceSchema } from "./prices.ts";
import type { FromSchema } from "./from-schema.ts";

const FEW = {
  type: "array",
  items: { type: "string", minLength: 1, description: "One name." },
} as const satisfies JsonObject;
const NAMES = { ...FEW, default: [] } as const satisfies JsonObject;
const fallback = (when: string) =>
  ({ ...NAMES, description: `Model ids to try in order, for ${when}.` }) as const;
/** Has no default: an absent list differs from an empty one. */
const partOfGeneral = (when: string) =>
  ({
    ...FEW,
    description: `Model ids to try in order, for ${when}. Absent: those of \`general\`. \`[]\`: none.`,
  }) as const;
const tokens = (what: string) =>
  ({ type: "integer", minimum: 1, description: `${what}, in tokens.` }) as const;
const supports = (what: string) =>
  ({ type: "boolean", description: `Whether the model supports ${what}.` }) as const;

/** A tag as requests may name it, but for the gateway's own. */
const TAGS = {
  type: "array",
  uniqueItems: true,
  maxItems: 64,
  items: {
    type: "string",
    minLength: 1,
    maxLength: 256,
    pattern: "^(?!sluice:)(?!\\s)[^,\\u0000-\\u001f\\u007f]*(?<!\\s)$",
    description: "One tag, without a comma and without blanks around it.",
  },
} as const satisfies JsonObject;

/** Abilities that `info` can declare, under LiteLLM's names. */
const SUPPORTS = {
  supports_function_calling: supports("tool calls"),
  supports_parallel_function_calling: supports("several tool calls in one reply"),
  supports_tool_choice: supports("`tool_choice`"),
  supports_response_schema: supports("structured output"),
  supports_system_messages: supports("system messages"),
  supports_native_streaming: supports("streams"),
  supports_reasoning: supports("reasoning"),
  supports_assistant_prefill: supports("an assistant message that the reply continues"),
  supports_prompt_caching: supports("prompt caching"),
  supports_vision: supports("images in the prompt"),
  supports_pdf_input: supports("documents in the prompt"),
  supports_audio_input: supports("audio in the prompt"),
  supports_audio_output: supports("audio in the reply"),
  supports_video_input: supports("video in the prompt"),
  supports_web_search: supports("web search"),
} as const satisfies JsonObject;

/** The schema of one entry of `models:`. */
export const modelSchema = {
  type: "object",
  description: "A model that clients may name.",
  additionalProperties: false,
  required: ["id", "targets"],
  properties: {
    id: {
      type: "string",
      minLength: 1,
      description:
        "The id that clients request. A `*` at its end makes a wildcard: the rest of the id is the upstream's model.",
    },
    mode: {
      type: "string",
      enum: ["chat", "embeddings", "images", "embedding", "image"],
      default: "chat",
      description:
        "The operation of the model, as in a pipeline's `operation`. `embedding` and `image` mean `embeddings` and `images`.",
    },
    targets: {
      type: "array",
      minItems: 1,
      description: "The upstreams of the model, in order of preference.",
      items: {
        type: "object",
        description: "A provider, and the model's name at that provider.",
        additionalProperties: false,
        required: ["provider", "model"],
        properties: {
          provider: { type: "string", minLength: 1, description: "A name from `providers`." },
          model: {
            type: "string",
            minLength: 1,
            description:
              "The model's name at the provider. `*` takes the text that the wildcard matched.",
          },
          drop_params: {
            type: "boolean",
            default: false,
            description:
              "Drops parameters that the provider does not support. Default: the gateway refuses such requests.",
          },
          forward_metadata: {
            type: "boolean",
            default: false,
            description:
              "Sends the request's metadata to the provider, without the members that control the gateway.",
          },
          forward: {
            type: "array",
            uniqueItems: true,
            items: { type: "string", minLength: 1 },
            description:
              "Request fields that let the provider choose models or tools, and that may be sent. The gateway refuses all others of this kind. Example: `[provider, transforms]` for OpenRouter.",
          },
          weight: {
            type: "integer",
            minimum: 0,
            maximum: 1_000_000,
            default: 1,
            description:
              "Share of the requests, relative to the other targets' weights. 0: only when no other target can serve.",
          },
          priority: {
            type: "integer",
            default: 0,
            description:
              "For the strategy `priority`: the available target with the lowest number serves.",
          },
          max_parallel: {
            type: "integer",
            minimum: 1,
            description: "Maximum concurrent requests in this process. Absent: no limit.",
          },
          queue: {
            type: "integer",
            minimum: 0,
            maximum: 100_000,
            default: 0,
            description:
              "Maximum requests that wait when `max_parallel` is reached and no other target is free.",
          },
          queue_timeout: {
            type: "string",
            format: "duration",
            default: "5s",
            description: "Maximum wait of a request in the queue.",
          },
          rpm: {
            type: "integer",
            minimum: 1,
            description:
              "Maximum requests in any minute. Above it, the step balance uses another target. Needs the step limits.",
          },
          tpm: {
            type: "integer",
            minimum: 1,
            description:
              "Maximum tokens in any minute. Above it, the step balance uses another target. Needs the step limits.",
          },
          tags: {
            ...TAGS,
            description:
              "Tags of requests that this target is for. `default`: also requests without a matching tag. Absent: the `tags` of the model.",
            examples: [["paid"]],
          },
          price: {
            ...priceSchema,
            description:
              "The price of the target. It overrides prices.yaml and the built-in table.",
          },
        },
      },
    },
    balance: {
      type: "string",
      enum: ["weighted", "priority", "least_busy", "lowest_latency", "lowest_cost", "sticky"],
      description:
        "The strategy that chooses the target. Absent: the strategy of the pipeline's step `balance`.",
    },
    access_groups: {
      ...NAMES,
      description: "Groups that a key may name instead of the model's id.",
    },
    only_named: {
      type: "boolean",
      default: false,
      description:
        "Restricts the model to the master key, and to keys and teams whose `models` name it. Keys without a list cannot use it.",
    },
    tags: {
      ...TAGS,
      default: [],
      description: "Tags of the model's targets that have no `tags` of their own.",
    },
    match_tags: {
      type: "string",
      enum: ["any", "all"],
      default: "any",
      description:
        "Whether a target must have one tag of the request, or all of them. Only for targets with `tags`.",
    },
    fallbacks: {
      type: "object",
      description:
        "Fallback models by the class of the failure. The model's metadata shows them. Example: `{ general: [gpt-4o-mini] }`.",
      "x-example": "{ general: [gpt-4o-mini] }",
      additionalProperties: false,
      properties: {
        general: fallback("failures of no other class"),
        context_window: fallback("prompts that do not fit the model"),
        content_policy: fallback("prompts that the upstream's policy refuses"),
        rate_limit: partOfGeneral("upstreams that answer 429"),
        overloaded: partOfGeneral(
          "upstreams that are overloaded (503, 529), and deployments at their limits",
        ),
        timeout: partOfGeneral("upstreams that do not answer in time"),
      },
    },
    info: {
      type: "object",
      description: "Facts about the model, shown to clients. They override the built-in table.",
      additionalProperties: false,
      properties: {
        max_input_tokens: tokens("The longest prompt"),
        max_output_tokens: tokens("The longest completion"),
        ...SUPPORTS,
      },
    },
  },
} as const satisfies JsonSchema;

/** One entry of `models:` after validation. */
export interface ModelSection extends Omit<FromSchema<typeof modelSchema>, "mode"> {
  /** `embedding` and `image` are `embeddings` and `images` by then. */
  readonly mode: ModelMode;
}

/** One target after validation. */
export type TargetSection = FromSchema<typeof modelSchema.properties.targets.items>;

/** The operator's facts about a model. Every key except the first two begins with `supports_`. */
export type InfoSection = FromSchema<typeof modelSchema.properties.info>;
