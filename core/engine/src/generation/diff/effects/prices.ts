/** Effects on prices: what the targets of models cost, before and after. */

import type { Price } from "@sluice/contract";
import type { ProviderSettings, Snapshot, TargetSettings } from "../../../config/snapshot.ts";
import { isSame } from "./compare.ts";
import type { Effect } from "./effect.ts";

/** The effects, for targets that are there before and after. */
export function priceEffects(live: Snapshot, candidate: Snapshot): Effect[] {
  const before = pricesOf(live);
  const effects: Effect[] = [];
  for (const [name, { price, target }] of pricesOf(candidate)) {
    const old = before.get(name);
    if (old === undefined || isSame(withoutSource(old.price), withoutSource(price))) continue;
    const about = `price of ${name}`;
    const message = `${shown(old.price)} -> ${shown(price)}`;
    effects.push({
      risk: price === undefined ? "danger" : "caution",
      about,
      message,
      at: target.at,
    });
  }
  return effects;
}

interface Priced {
  readonly price: Price | undefined;
  readonly target: TargetSettings;
}

/** The price of a target in a configuration: its own, or else the table's. */
export function priceLookup({
  providers,
  prices,
}: Snapshot): (target: Pick<TargetSettings, "provider" | "model" | "price">) => Price | undefined {
  const plugins = new Map(providers.map((provider) => [provider.name, pricedAs(provider)]));
  return ({ provider, model, price }) =>
    price ?? prices.find(plugins.get(provider) ?? provider, model);
}

function pricesOf(snapshot: Snapshot): ReadonlyMap<string, Priced> {
  const priceOf = priceLookup(snapshot);
  const priced = new Map<string, Priced>();
  for (const { targets } of snapshot.models) {
    for (const target of targets) {
      const { provider, model } = target;
      priced.set(`${provider}/${model}`, { price: priceOf(target), target });
    }
  }
  return priced;
}

/** The name of a provider's models in the price table. */
function pricedAs({ use, options }: ProviderSettings): string {
  const named = options["price_as"] ?? options["preset"];
  return typeof named === "string" && named !== "custom" ? named : use;
}

function withoutSource(price: Price | undefined): unknown {
  if (price === undefined) return undefined;
  const { source: _source, ...rest } = price as Price & { readonly source?: string };
  return rest;
}

/** Rates in dollars per million tokens; other members of a price are only reported as present. */
function shown(price: Price | undefined): string {
  if (price === undefined) return "unpriced: its cost is unknown";
  if (price.free === true) return "free";
  const { source: _source, ...members } = price;
  const rates = Object.entries(members).map(([name, value]) =>
    typeof value === "number" ? `${name} ${value / PICO_PER_MICRO}` : `with ${name}`,
  );
  return rates.join(", ");
}

/** A pico-dollar a token is a millionth of a dollar for a million tokens. */
const PICO_PER_MICRO = 1_000_000;
