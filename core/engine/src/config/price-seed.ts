/** Built-in prices: the table of @pydantic/genai-prices, read when first asked and matched by its own clauses. */

import { createRequire } from "node:module";

import type { Price, PriceTier } from "@sluice/spec";

import { parseDecimal } from "./decimal.ts";

type GenaiPrices = typeof import("@pydantic/genai-prices");
type SeedModel = NonNullable<ReturnType<GenaiPrices["calcPrice"]>>["model"];
type SeedPrices = Exclude<SeedModel["prices"], readonly unknown[]>;
type SeedPrice = SeedPrices[string];

/** Where a built-in price was read. A test holds the version against the installed package. */
export const SEED_SOURCE = "@pydantic/genai-prices 0.1.8";

/** Our plugin names whose table has another name. Others are looked up under their own, exactly. */
const TABLE_NAMES: Readonly<Record<string, string>> = { gemini: "google", vertex: "google", bedrock: "aws", xai: "x-ai" };

const MINUTE_MS = 60_000;

/** An answer and the moment until which it may be kept: prices by the hour change on a full minute. */
export interface SeedAnswer {
  readonly price: Price | undefined;
  readonly untilMs: number;
}

/** The built-in price of a provider's model at a time, in milliseconds since 1970. */
export function findSeedPrice(provider: string, model: string, nowMs: number): SeedAnswer {
  const id = TABLE_NAMES[provider] ?? provider;
  const { findProvider, calcPrice } = load();
  // findProvider also guesses from parts of a name ("openai-compatible" is not OpenAI and has not its prices).
  const table = findProvider({ providerId: id });
  const found = table?.id === id ? calcPrice({}, model, { provider: table, timestamp: new Date(nowMs) }) : null;
  if (found === null) return { price: undefined, untilMs: Infinity };
  const isTimed = Array.isArray(found.model.prices) && found.model.prices.length > 1;
  const untilMs = isTimed ? (Math.floor(nowMs / MINUTE_MS) + 1) * MINUTE_MS : Infinity;
  return { price: convert(found.model_price), untilMs };
}

let loaded: GenaiPrices | undefined;

/** Loads the package synchronously, as a lookup is: about 40 ms, once in a process. */
function load(): GenaiPrices {
  loaded ??= createRequire(import.meta.url)("@pydantic/genai-prices") as GenaiPrices;
  return loaded;
}

const converted = new WeakMap<SeedPrices, { readonly price: Price | undefined }>();

function convert(prices: SeedPrices): Price | undefined {
  const known = converted.get(prices) ?? { price: make(prices) };
  converted.set(prices, known);
  return known.price;
}

function make(prices: SeedPrices): Price | undefined {
  const names = Object.keys(prices);
  // Unknown is not zero. An embedding has no output to price; any other model without a text price is not priced by us.
  const hasOtherOutput = names.some((name) => name.startsWith("output_") && name !== "output_mtok");
  const lacksOutput = prices["output_mtok"] === undefined && hasOtherOutput;
  if (prices["input_mtok"] === undefined || lacksOutput || prices["output_reasoning_mtok"] !== undefined) return undefined;
  const base = pricesAt(prices, 0);
  const tiers = tiersOf(prices);
  return Object.freeze({
    input: base.input ?? 0,
    output: base.output ?? 0,
    ...pick("cacheRead", base.cacheRead),
    ...pick("cacheWrite", base.cacheWrite),
    ...pick("inputAudio", pico(prices["input_audio_mtok"], 0)),
    ...pick("outputAudio", pico(prices["output_audio_mtok"], 0)),
    ...pick("cacheReadAudio", pico(prices["cache_audio_read_mtok"], 0)),
    ...(tiers.length === 0 ? {} : { tiers }),
    source: SEED_SOURCE,
  });
}

const TIERED = ["input_mtok", "output_mtok", "cache_read_mtok", "cache_write_mtok"] as const;

function tiersOf(prices: SeedPrices): readonly PriceTier[] {
  const starts = new Set<number>();
  for (const name of TIERED) {
    const price = prices[name];
    if (typeof price === "object") for (const tier of price.tiers) starts.add(tier.start);
  }
  const ordered = [...starts].sort((left, right) => left - right);
  return Object.freeze(ordered.map((above) => Object.freeze({ above, ...pricesAt(prices, above + 1) })));
}

/** The prices that hold for a prompt of a length. */
function pricesAt(prices: SeedPrices, promptTokens: number): Omit<PriceTier, "above"> {
  return {
    ...pick("input", pico(prices["input_mtok"], promptTokens)),
    ...pick("output", pico(prices["output_mtok"], promptTokens)),
    ...pick("cacheRead", pico(prices["cache_read_mtok"], promptTokens)),
    ...pick("cacheWrite", pico(prices["cache_write_mtok"], promptTokens)),
  };
}

/** Pico-dollars per token of dollars per million. A few prices of the table are quotients; they are rounded. */
function pico(price: SeedPrice, promptTokens: number): number | undefined {
  if (price === undefined) return undefined;
  let dollars = typeof price === "number" ? price : price.base;
  if (typeof price === "object") for (const tier of price.tiers) if (promptTokens > tier.start) dollars = tier.price;
  return parseDecimal(String(dollars), 6) ?? Math.round(dollars * 1e6);
}

function pick<Name extends string>(name: Name, value: number | undefined): { readonly [Key in Name]?: number } {
  return (value === undefined ? {} : { [name]: value }) as { readonly [Key in Name]?: number };
}
