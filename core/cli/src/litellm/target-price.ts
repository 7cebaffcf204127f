/** Prices that an entry of `model_list` brings along, in dollars per million tokens. */

import { type Members, numberOf } from "./source.ts";

/** LiteLLM's names of prices per token, and ours. */
const RATES: Readonly<Record<string, string>> = {
  input_cost_per_token: "input",
  output_cost_per_token: "output",
  cache_read_input_token_cost: "cache_read",
  cache_creation_input_token_cost: "cache_write",
  output_cost_per_reasoning_token: "reasoning",
  input_cost_per_audio_token: "input_audio",
  output_cost_per_audio_token: "output_audio",
};

/** The price, and the members that it was read from. */
export function priceOf(members: Members): {
  readonly price: object | undefined;
  readonly read: readonly string[];
} {
  const read = Object.keys(RATES).filter((name) => numberOf(members[name]) !== undefined);
  const price: Record<string, number> = {};
  for (const name of read)
    price[RATES[name] ?? name] = Math.round((numberOf(members[name]) ?? 0) * 1e12) / 1e6;
  const isFree = price["input"] === 0 && price["output"] === 0;
  if (isFree) return { price: { free: true }, read };
  // A price needs to say what a prompt costs; the rest alone would leave it unknown.
  return {
    price: price["input"] === undefined && price["output"] === undefined ? undefined : price,
    read,
  };
}
