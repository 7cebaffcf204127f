/** Facts about Anthropic's models by their names. Data and three functions. */

import type { Feature, ModelTraits } from "@sluice/contract";

/**
 * The maximum tokens of a reply for each model family
 * (docs.anthropic.com/en/docs/about-claude/models/overview). The API requires a `max_tokens`; a
 * small default would cut replies that no client limited.
 */
const MAX_OUTPUT: readonly (readonly [RegExp, number])[] = [
  [/claude-3-(?:haiku|opus|sonnet)/, 4_096],
  [/claude-3-5/, 8_192],
  [/claude-(?:opus-4(?:-[01])?(?:-\d{8})?$|opus-4-1-)/, 32_000],
];
/** Of every family since: 64,000 or more. */
const MAX_OUTPUT_SINCE = 64_000;

/**
 * Families that think within a budget of tokens; later ones decide by themselves and take an
 * effort.
 */
const BUDGETED = /claude-(?:3-7|(?:opus|sonnet|haiku)-4(?:-[015])?(?:-\d{8}|-latest|@\d{8})?$)/;
/** Families that cannot think. */
const THOUGHTLESS = /claude-(?:2|3-(?:haiku|opus|sonnet|5)|instant)/;
/** Families that read text alone. */
const SIGHTLESS = /claude-(?:2|instant)/;
/**
 * Families before structured output: `output_config.format` came with Opus, Sonnet and Haiku 4.5;
 * Opus 4.1 had it in a beta alone
 * (platform.claude.com/docs/en/build-with-claude/structured-outputs, "Structured outputs are
 * generally available …").
 */
const SCHEMALESS = /claude-(?:2|3-|instant|(?:opus|sonnet)-4(?:-[01])?(?:[-@]\d{8})?$)/;

/**
 * Traits of every Claude model. Temperatures end at 1 (platform.claude.com/docs/en/api/messages);
 * since Opus 4.1 `temperature` and `top_p` "cannot both be specified"; "each stop sequence must
 * contain non-whitespace".
 */
const TRAITS: ModelTraits = {
  ranges: { temperature: [0, 1] },
  hasNoJsonMode: true,
  takesOneSampling: true,
  refusesBlankStops: true,
};

export function traits(): ModelTraits {
  return TRAITS;
}

/** The most tokens that a reply of the model may have. */
export function maxOutputTokens(model: string): number {
  return MAX_OUTPUT.find(([pattern]) => pattern.test(model))?.[1] ?? MAX_OUTPUT_SINCE;
}

/** The form in which a model takes a request to think. */
export function thinkingOf(model: string): "none" | "budget" | "adaptive" {
  if (THOUGHTLESS.test(model)) return "none";
  return BUDGETED.test(model) ? "budget" : "adaptive";
}

/** Whether a model has a feature; `undefined` when its name does not show it. */
export function supports(feature: Feature, model: string): boolean | undefined {
  switch (feature) {
    case "audio":
    case "speech":
      return false;
    case "tools":
    case "images":
    case "documents":
      return SIGHTLESS.test(model) ? false : undefined;
    case "schema":
      return SCHEMALESS.test(model) ? false : undefined;
    default:
      return feature satisfies never;
  }
}
