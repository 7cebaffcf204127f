/** Samples of reported usage: they adjust the estimates for each model family. */

import type { Clock, Exchange } from "@sluice/contract";
import { countPrompt, promptParts } from "@sluice/runtime/openai";
import type { EstimateParts } from "./estimate.ts";

/** Of the exchanges of a model one of this many is counted, the first one included. */
const EVERY = 32;
/** The time between two counts of a model at least: a count costs 0.1 ms per KB. */
const PAUSE_MS = 250;
/** Models remembered. Beyond it all are forgotten. */
const MAX_MODELS = 1_000;
/** Longer prompts are left out: they tell no more about a family than short ones. */
const MAX_CHARACTERS = 65_536;

/** What is known of a model's exchanges. */
interface Seen {
  exchanges: number;
  /** The next count is not before this moment. */
  againMs: number;
}

/**
 * Looks at a settled exchange. Whatever it does is done behind the reply, and what fails is
 * forgotten.
 */
export type UsageSampler = (exchange: Exchange) => void;

/**
 * A sampler. It counts the prompts of chat exchanges that other makers' models answered, with a
 * usage of their own.
 */
export function createUsageSampler(
  { tokens, factors }: EstimateParts,
  clock: Pick<Clock, "monotonic">,
): UsageSampler {
  const byModel = new Map<string, Seen>();

  const isDue = (model: string): boolean => {
    let seen = byModel.get(model);
    if (seen === undefined) {
      if (byModel.size >= MAX_MODELS) byModel.clear();
      byModel.set(model, (seen = { exchanges: 0, againMs: -Infinity }));
    }
    if (seen.exchanges++ % EVERY !== 0) return false;
    const nowMs = clock.monotonic();
    if (nowMs < seen.againMs) return false;
    seen.againMs = nowMs + PAUSE_MS;
    return true;
  };

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
    if (!isDue(target.model)) return;
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
