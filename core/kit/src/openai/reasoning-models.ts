/** Names of models that think before they answer, for many providers. */

import type { ModelTraits } from "@sluice/contract";

/**
 * OpenAI's o series and GPT-5 (platform.openai.com/docs/guides/reasoning), and open models with
 * reasoning, behind any prefix.
 */
const REASONING =
  /(?:^|[/.:-])(?:o[1-9](?:-|$)|gpt-(?:[5-9]|\d{2})(?![\w.]*-chat)|gpt-oss|deepseek-r|deepseek-reasoner|qwq|qvq|magistral|grok-(?:3-mini|[4-9]))|thinking|reasoning(?!-off)/i;

const REASONS: ModelTraits = Object.freeze({ reasons: true });

/** The traits of a model with a reasoning name; `undefined` for others. */
export function reasoningTraits(model: string): ModelTraits | undefined {
  return REASONING.test(model) ? REASONS : undefined;
}
