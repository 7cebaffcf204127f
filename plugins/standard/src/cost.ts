/** The step `cost`: prices every attempt from the price table. An unknown price stays unknown. */

import { type CostTerms, costNanoUsd, defineStep, isAbandoned, passOn } from "@sluice/kit";
import type { AbortBilling, Attempt, Cost, Exchange, PriceTable } from "@sluice/spec";
import { abandonedCost } from "./abandoned-cost.ts";
import { type CostConfig, costSchema, namedProviders, termsOf } from "./cost-terms.ts";
import { offerTerms } from "./offered-terms.ts";

const UNPRICED: Cost = { status: "unpriced", nanoUsd: undefined };
const FREE: Cost = { status: "free", nanoUsd: 0 };

export const cost = defineStep<CostConfig>({
  name: "cost",
  stability: "stable",
  summary: "Prices every attempt, in integer nano-dollars, for the spend row and the `x-sluice-cost` header.",
  config: costSchema,
  provides: ["cost"],
  requires: [{ capability: "identity", reason: "a spend row belongs to a key" }],
  before: [{ capability: "cached_reply", reason: "a reply from the cache would pass it by and leave no row" }],
  create(config, { prices, providers, log }) {
    const known = providers.names();
    for (const name of namedProviders(config)) {
      if (!known.includes(name)) log.warn("the step cost has terms for a provider that is not there", { provider: name });
    }
    const terms = new Map(known.map((name) => [name, termsOf(config, name)]));
    const others = termsOf(config, "*");
    const termsOfProvider = (name: string): CostTerms => terms.get(name) ?? others;
    const price = (attempt: Attempt): Cost => priceOf(attempt, prices, termsOfProvider(attempt.target.provider));
    const { on_abort: onAbort = "observed" } = config;
    return {
      enter(exchange) {
        exchange.pricer = onAbort === "observed" ? price : (attempt) => priceAs(onAbort, exchange, attempt, price);
        exchange.abortBilling = onAbort;
        if (exchange.operation === "spend") offerTerms(exchange, termsOfProvider);
        return false;
      },
      run: passOn,
    };
  },
});

function priceAs(onAbort: AbortBilling, exchange: Exchange, attempt: Attempt, price: (attempt: Attempt) => Cost): Cost {
  return isAbandoned(exchange, attempt) ? abandonedCost(attempt, onAbort, price) : price(attempt);
}

function priceOf(attempt: Attempt, prices: PriceTable, terms: CostTerms): Cost {
  const { usage, target } = attempt;
  // A failure without usage was refused before it generated anything.
  if (usage === undefined) return attempt.outcome === "failure" ? FREE : UNPRICED;
  const price = target.price ?? prices.find(attempt.provider, target.model);
  if (price === undefined) return UNPRICED;
  // Nothing is added to what costs nothing by its price.
  if (price.free === true) return FREE;
  const nanoUsd = costNanoUsd(usage, price, terms);
  if (nanoUsd === undefined) return UNPRICED;
  return nanoUsd === 0 && price.input === 0 && price.output === 0 ? FREE : { status: "priced", nanoUsd };
}
