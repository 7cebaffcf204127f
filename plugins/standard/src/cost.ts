/** The step `cost`: prices every attempt from the price table. An unknown price stays unknown. */

import { type CostTerms, costNanoUsd, defineStep, isAbandoned, isAmbiguous, passOn } from "@sluice/kit";
import type { AbortBilling, AmbiguousBilling, Attempt, Cost, Exchange, PriceTable, Usage } from "@sluice/spec";
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
    const { on_abort: onAbort = "observed", on_ambiguous: onAmbiguous = "input_only" } = config;
    const price = (attempt: Attempt): Cost => {
      if (attempt.target.price?.free === true) return FREE;
      if (attempt.usage === undefined) return costUncounted(attempt, onAmbiguous);
      return priceOf(attempt, attempt.usage, prices, termsOfProvider(attempt.target.provider));
    };
    return {
      enter(exchange) {
        exchange.pricer = onAbort === "observed" ? price : (attempt) => priceAs(onAbort, exchange, attempt, price);
        exchange.abortBilling = onAbort;
        exchange.ambiguousBilling = onAmbiguous;
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

/** A failure without usage was refused before it generated anything, unless it was lost: then nobody knows. */
function costUncounted(attempt: Attempt, onAmbiguous: AmbiguousBilling): Cost {
  if (attempt.outcome !== "failure") return UNPRICED;
  return onAmbiguous === "input_only" && isAmbiguous(attempt) ? UNPRICED : FREE;
}

function priceOf({ target, provider }: Attempt, usage: Usage, prices: PriceTable, terms: CostTerms): Cost {
  const price = target.price ?? prices.find(provider, target.model);
  if (price === undefined) return UNPRICED;
  // Nothing is added to what costs nothing by its price.
  if (price.free === true) return FREE;
  const nanoUsd = costNanoUsd(usage, price, terms);
  if (nanoUsd === undefined) return UNPRICED;
  return nanoUsd === 0 && price.input === 0 && price.output === 0 ? FREE : { status: "priced", nanoUsd };
}
