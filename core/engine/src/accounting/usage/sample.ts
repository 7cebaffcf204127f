/** Samples of reported usage, from which the factors of model families are learnt. */

import type { Exchange } from "@sluice/contract";
import { countPrompt, promptParts } from "@sluice/runtime/openai";
import type { EstimateParts } from "./estimate.ts";

/**
 * The sampler counts one exchange of this many, the first one included. A factor needs no more, and
 * a count costs 0.1 ms per KB.
 */
const EVERY = 32;
/** Longer prompts are left out: they tell no more about a family than short ones. */
const MAX_CHARACTERS = 65_536;

/**
 * Looks at a settled exchange. Whatever it does is done behind the reply, and what fails is
 * forgotten.
 */
export type UsageSampler = (exchange: Exchange) => void;

/**
 * A sampler. It counts the prompts of chat exchanges that other makers' models answered, with a
 * usage of their own.
 */
export function createUsageSampler({ tokens, factors }: EstimateParts): UsageSampler {
  let seen = 0;
  return (exchange) => {
    const attempt = exchange.attempts.at(-1);
    if (
      exchange.operation !== "chat" ||
      attempt?.outcome !== "success" ||
      attempt.usageSource !== "provider"
    )
      return;
    const { usage, target } = attempt;
    const body = exchange.request?.document;
    if (usage === undefined || body === undefined || !factors.isLearnt(target.model)) return;
    if (seen++ % EVERY !== 0) return;
    const count = async (): Promise<void> => {
      const parts = promptParts(body.value);
      const characters = parts.texts.reduce((total, { length }) => total + length, 0);
      if (!parts.exact || characters > MAX_CHARACTERS) return;
      const counted = await countPrompt(body.value, tokens);
      if (counted.exact) factors.observe(target.model, usage.promptTokens, counted.tokens);
    };
    setImmediate(() => void count().catch(() => undefined));
  };
}
