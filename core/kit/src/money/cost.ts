/** Prices usage. Integer arithmetic; one rounding at the end. */

import type { Price, PriceTier, Usage } from "@sluice/spec";

/** Pico-dollars in a nano-dollar. */
const PICO_PER_NANO = 1000n;

/**
 * The cost of a usage in nano-dollars, rounded half up once. Parts that have a price of their own (cache, audio) are
 * counted at it and not at the general one; the highest tier that the prompt reaches prices the whole request.
 */
export function costNanoUsd(usage: Usage, price: Price): number {
  const tier = reachedTier(price, usage.promptTokens);
  const input = tier?.input ?? price.input;
  const output = tier?.output ?? price.output;
  const cacheRead = tier?.cacheRead ?? price.cacheRead ?? input;
  const cacheWrite = tier?.cacheWrite ?? price.cacheWrite ?? input;
  const cached = Math.min(usage.cachedTokens ?? 0, usage.promptTokens);
  const written = Math.min(usage.cacheWriteTokens ?? 0, usage.promptTokens - cached);
  const audioIn = Math.min(usage.audioPromptTokens ?? 0, usage.promptTokens - cached - written);
  const audioOut = Math.min(usage.audioCompletionTokens ?? 0, usage.completionTokens);
  const picoUsd =
    product(usage.promptTokens - cached - written - audioIn, input) +
    product(cached, cacheRead) +
    product(written, cacheWrite) +
    product(audioIn, price.inputAudio ?? input) +
    product(usage.completionTokens - audioOut, output) +
    product(audioOut, price.outputAudio ?? output);
  return Number((picoUsd + PICO_PER_NANO / 2n) / PICO_PER_NANO);
}

function product(tokens: number, picoUsdPerToken: number): bigint {
  return tokens === 0 ? 0n : BigInt(tokens) * BigInt(picoUsdPerToken);
}

function reachedTier(price: Price, promptTokens: number): PriceTier | undefined {
  let reached: PriceTier | undefined;
  for (const tier of price.tiers ?? []) {
    if (promptTokens > tier.above && (reached === undefined || tier.above > reached.above)) reached = tier;
  }
  return reached;
}
