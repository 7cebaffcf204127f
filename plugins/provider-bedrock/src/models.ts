/** Facts about Bedrock's models by their ids. Data and functions. */

import type { Feature, ModelTraits } from "@sluice/contract";

/**
 * Regions of inference profiles
 * (docs.aws.amazon.com/bedrock/latest/userguide/inference-profiles-support.html).
 */
const PROFILE_REGION = /^(?:us-gov|us|eu|apac|ap|jp|au|ca|sa|me|il|mx|global)\./;

/**
 * The model behind an id: an inference profile or an ARN without its prefix. An application's own
 * profile names no model: its id stays.
 */
export function baseModel(id: string): string {
  return id.slice(id.lastIndexOf("/") + 1).replace(PROFILE_REGION, "");
}

/** The form in which a model takes a request to think. */
export type Thinking = "none" | "budget" | "adaptive" | "nova" | "effort" | "unknown";

const THINKING: readonly (readonly [RegExp, Thinking])[] = [
  [/^anthropic\.claude-(?:v2|instant|3-(?:haiku|opus|sonnet|5))/, "none"],
  [/^anthropic\.claude-(?:3-7|(?:opus|sonnet|haiku)-4(?:-[015])?(?:-\d{8}|$|-v))/, "budget"],
  [/^anthropic\.claude-/, "adaptive"],
  [/^amazon\.nova-2-/, "nova"],
  [/^openai\.gpt-oss-/, "effort"],
  [/^(?:amazon|meta|cohere|ai21|stability)\./, "none"],
];

export function thinkingOf(model: string): Thinking {
  const base = baseModel(model);
  return THINKING.find(([pattern]) => pattern.test(base))?.[1] ?? "unknown";
}

/**
 * Converse has temperatures up to 1 and no JSON mode (`InferenceConfiguration` and `OutputFormat`
 * of the service model).
 */
const CONVERSE: ModelTraits = { ranges: { temperature: [0, 1] }, hasNoJsonMode: true };
/** Claude behind it refuses what it refuses at Anthropic's own address. */
const CLAUDE: ModelTraits = { ...CONVERSE, takesOneSampling: true, refusesBlankStops: true };

/** The traits of a model. An application's own profile may be Claude's. */
export function traits(model: string): ModelTraits {
  return mayBeClaude(model) ? CLAUDE : CONVERSE;
}

/** Whether a model is Claude, or a profile that may be one. */
export function mayBeClaude(model: string): boolean {
  const base = baseModel(model);
  return base.startsWith("anthropic.") || !base.includes(".");
}

/** Families and their features. A feature outside a row is unknown. */
const FEATURES: readonly (readonly [RegExp, Readonly<Partial<Record<Feature, boolean>>>])[] = [
  [
    /^anthropic\.claude-(?:v2|instant)/,
    { tools: false, images: false, documents: false, audio: false, schema: false },
  ],
  [
    /^anthropic\.claude-3-5-haiku/,
    { tools: true, images: false, documents: true, audio: false, schema: false },
  ],
  [
    /^anthropic\.claude-(?:3|(?:opus|sonnet)-4-(?:\d{8}|1-))/,
    { tools: true, images: true, documents: true, audio: false, schema: false },
  ],
  [/^anthropic\./, { tools: true, images: true, documents: true, audio: false, schema: true }],
  [
    /^amazon\.nova-micro/,
    { tools: true, images: false, documents: false, audio: false, schema: false },
  ],
  [
    /^amazon\.nova-(?:lite|pro|premier)/,
    { tools: true, images: true, documents: true, audio: false, schema: false },
  ],
  [/^amazon\.nova-2-lite/, { tools: true, images: true, documents: true }],
  [/^amazon\.titan-text/, { tools: false, images: false, audio: false, schema: false }],
];

/**
 * Whether a model can do something; `undefined` when it is not known. Converse answers with no
 * audio.
 */
export function supports(feature: Feature, model: string): boolean | undefined {
  if (feature === "speech") return false;
  const base = baseModel(model);
  return FEATURES.find(([pattern]) => pattern.test(base))?.[1][feature];
}

/**
 * Where cache points may stand (docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html):
 * Claude takes them everywhere, Nova not among the tools. Other vendors refuse them. An
 * application's own profile takes them: the operator knows its model.
 */
export function cachePoints(model: string): {
  readonly messages: boolean;
  readonly tools: boolean;
  readonly ttl: boolean;
} {
  const base = baseModel(model);
  const isClaude = base.startsWith("anthropic.") || !base.includes(".");
  return { messages: isClaude || base.startsWith("amazon.nova"), tools: isClaude, ttl: isClaude };
}

/** Whether the top level of a tool's schema may have only type, properties and required. */
export function isNova(model: string): boolean {
  return baseModel(model).startsWith("amazon.nova");
}
