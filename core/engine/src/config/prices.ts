/** The price table: prices.yaml first, then the table of @pydantic/genai-prices. */

import type { Price, PriceTable, PriceTier } from "@sluice/spec";

import { parseDecimal } from "./decimal.ts";
import { findSeedPrice } from "./price-seed.ts";
import type { PriceSection } from "./schema/prices.ts";

/** Answers kept by a table; a client that invents model names cannot make it grow. */
const MAX_CACHED = 2_000;

/** Decimals of a price in dollars per million tokens that pico-dollars per token can hold. */
const DECIMALS = 6;

/** What a price table is made of. */
export interface PriceTableOptions {
  /** Entries of prices.yaml, checked, by `provider/model`. */
  readonly prices: Readonly<Record<string, PriceSection>>;
  /** The name of prices.yaml, for the source of its prices. */
  readonly file: string;
  /** Milliseconds since 1970: some prices change on a day or with the hour. */
  readonly now?: () => number;
}

/** A price table. The built-in prices are loaded at the first question that prices.yaml does not answer. */
export function createPriceTable(options: PriceTableOptions): PriceTable {
  const now = options.now ?? Date.now;
  const exact = new Map<string, Price>();
  const wildcards: { readonly prefix: string; readonly price: Price }[] = [];
  for (const [name, section] of Object.entries(options.prices)) {
    const price = priceOf(section, options.file);
    if (price === undefined) continue;
    if (name.endsWith("*")) wildcards.push({ prefix: name.slice(0, -1), price });
    else exact.set(name, price);
  }
  wildcards.sort((left, right) => right.prefix.length - left.prefix.length);

  const cache = new Map<string, { readonly price: Price | undefined; readonly untilMs: number }>();
  return Object.freeze({
    find(provider: string, model: string): Price | undefined {
      const name = `${provider}/${model}`;
      const cached = cache.get(name);
      const time = now();
      if (cached !== undefined && time < cached.untilMs) return cached.price;
      const own = exact.get(name) ?? wildcards.find((wildcard) => name.startsWith(wildcard.prefix))?.price;
      const answer = own === undefined ? findSeedPrice(provider, model, time) : { price: own, untilMs: Infinity };
      cache.delete(name);
      const oldest = cache.size >= MAX_CACHED ? cache.keys().next().value : undefined;
      if (oldest !== undefined) cache.delete(oldest);
      cache.set(name, answer);
      return answer.price;
    },
  });
}

/** The price of an entry of prices.yaml, `undefined` when it is at fault: see {@link priceFault}. */
export function priceOf(section: PriceSection, file: string): Price | undefined {
  if (section.free === true) return Object.freeze({ input: 0, output: 0, source: `${file} (free)` });
  const input = picoDollars(section.input);
  const output = picoDollars(section.output);
  if (input === undefined || output === undefined) return undefined;
  return Object.freeze({
    input,
    output,
    ...optional("cacheRead", section.cache_read),
    ...optional("cacheWrite", section.cache_write),
    ...optional("inputAudio", section.input_audio),
    ...optional("outputAudio", section.output_audio),
    ...optional("cacheReadAudio", section.cache_read_audio),
    ...(section.tiers === undefined ? {} : { tiers: tiersOf(section.tiers) }),
    source: file,
  });
}

/** What a schema cannot say about an entry of prices.yaml, `undefined` when it is sound. */
export function priceFault(section: PriceSection): { readonly message: string; readonly fix: string } | undefined {
  const keys = Object.keys(section);
  if (section.free === true) {
    return keys.length === 1 ? undefined : { message: "is free and has prices", fix: "keep `free: true` or the prices" };
  }
  if (section.input === undefined || section.output === undefined) {
    const lacks = section.input === undefined ? "input" : "output";
    return { message: `lacks \`${lacks}\``, fix: `add \`${lacks}:\` in US dollars per million tokens, or write \`free: true\`` };
  }
  const starts = (section.tiers ?? []).map((tier) => tier.above);
  if (new Set(starts).size !== starts.length)
    return { message: "has two tiers that begin at one length", fix: "keep one of the two" };
  return undefined;
}

function tiersOf(tiers: NonNullable<PriceSection["tiers"]>): readonly PriceTier[] {
  const made = tiers.map((tier) =>
    Object.freeze({
      above: tier.above,
      ...optional("input", tier.input),
      ...optional("output", tier.output),
      ...optional("cacheRead", tier.cache_read),
      ...optional("cacheWrite", tier.cache_write),
    }),
  );
  return Object.freeze(made.sort((left, right) => left.above - right.above));
}

/** Pico-dollars per token of dollars per million tokens. The shortest decimal text of the number is what was written. */
function picoDollars(dollars: number | undefined): number | undefined {
  return dollars === undefined ? undefined : parseDecimal(String(dollars), DECIMALS);
}

function optional<Name extends string>(name: Name, dollars: number | undefined): { readonly [Key in Name]?: number } {
  const pico = picoDollars(dollars);
  return (pico === undefined ? {} : { [name]: pico }) as { readonly [Key in Name]?: number };
}
