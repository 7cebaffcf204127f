/** The price table: prices.yaml first, then the built-in table. */

import type { Price, PriceTable } from "@sluice/spec";

import { BoundedMap } from "./bounded-map.ts";
import { priceOf } from "./price-section.ts";
import { findSeedPrice } from "./price-seed.ts";
import type { PriceSection } from "./schema/prices.ts";

/** Answers kept by a table; a client that invents model names cannot make it grow. */
const MAX_CACHED = 2_000;

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

  const cache = new BoundedMap<{ readonly price: Price | undefined; readonly untilMs: number }>(MAX_CACHED);
  return Object.freeze({
    find(provider: string, model: string): Price | undefined {
      const name = `${provider}/${model}`;
      const cached = cache.get(name);
      const time = now();
      if (cached !== undefined && time < cached.untilMs) return cached.price;
      const own = exact.get(name) ?? wildcards.find((wildcard) => name.startsWith(wildcard.prefix))?.price;
      const answer = own === undefined ? findSeedPrice(provider, model, time) : { price: own, untilMs: Infinity };
      cache.set(name, answer);
      return answer.price;
    },
  });
}
