/** The price table: prices.yaml first, then the built-in table. */

import type { Price, PriceTable } from "@sluice/contract";

import { BoundedMap } from "../bounded-map.ts";
import { priceOf } from "./section.ts";
import { findSeedPrice, withTools } from "./seed.ts";
import type { PriceSection } from "../schema/prices.ts";

/**
 * Providers, and answers for each, that are kept; a client that invents names cannot make a table
 * grow.
 */
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

/**
 * A price table. The built-in prices are loaded at the first question that prices.yaml does not
 * answer.
 */
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

  // By provider and then by model: no name is put together for an answer that is there.
  const caches = new BoundedMap<
    BoundedMap<{ readonly price: Price | undefined; readonly untilMs: number }>
  >(MAX_CACHED);
  return Object.freeze({
    find(provider: string, model: string): Price | undefined {
      let cache = caches.get(provider);
      if (cache === undefined) {
        cache = new BoundedMap(MAX_CACHED);
        caches.set(provider, cache);
      }
      const cached = cache.get(model);
      if (cached !== undefined && (cached.untilMs === Infinity || now() < cached.untilMs))
        return cached.price;
      const time = now();
      const name = `${provider}/${model}`;
      const own =
        exact.get(name) ?? wildcards.find((wildcard) => name.startsWith(wildcard.prefix))?.price;
      const found =
        own === undefined
          ? findSeedPrice(provider, model, time)
          : { price: own, untilMs: Infinity };
      const answer = { ...found, price: withTools(found.price, provider, model) };
      cache.set(model, answer);
      return answer.price;
    },
  });
}
