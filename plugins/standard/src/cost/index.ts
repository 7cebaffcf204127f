/** The step `cost`: prices every attempt from the price table. An unknown price stays unknown. */

import { BILLING, type CostTerms, costNanoUsd } from "@sluice/runtime";
import { defineStep, isObject, passOn } from "@sluice/kit";
import type { Attempt, Cost, Exchange, PriceTable, Usage } from "@sluice/contract";
import { billingBy, FREE, UNPRICED } from "./rules.ts";
import { type CostConfig, costSchema, namedProviders, termsOf } from "./terms.ts";
import { offerTerms } from "./offered-terms.ts";

export const cost = defineStep<CostConfig>({
  name: "cost",
  stability: "stable",
  summary:
    "Prices every attempt, in integer nano-dollars, for the spend row and the `x-sluice-cost` header.",
  config: costSchema,
  order: {
    provides: ["cost"],
    requires: [{ capability: "identity", reason: "a spend row belongs to a key" }],
    before: [
      { capability: "cached_reply", reason: "a cached reply would skip it and leave no row" },
    ],
  },
  create(config, { prices, providers, log }) {
    const known = providers.names();
    for (const name of namedProviders(config)) {
      if (!known.includes(name))
        log.warn("the step cost has terms for a provider that is not there", { provider: name });
    }
    const terms = new Map(known.map((name) => [name, termsOf(config, name)]));
    const others = termsOf(config, "*");
    const termsOfProvider = (name: string): CostTerms => terms.get(name) ?? others;
    const { on_abort: onAbort = "observed", on_ambiguous: onAmbiguous = "input_only" } = config;
    const billing = billingBy({ onAbort, onAmbiguous }, (attempt, usage, exchange) =>
      priceOf(
        attempt,
        withUnreportedSearch(usage, attempt, exchange),
        prices,
        termsOfProvider(attempt.target.provider),
      ),
    );
    return {
      enter(exchange) {
        BILLING.set(exchange, billing);
        if (exchange.operation === "spend") offerTerms(exchange, termsOfProvider);
        return false;
      },
      run: passOn,
    };
  },
});

/**
 * Providers whose chat completions search once for each request with `web_search_options`, and do
 * not report it.
 */
const SEARCHES_UNREPORTED: ReadonlySet<string> = new Set(["openai"]);

/**
 * Source: platform.openai.com/docs/guides/tools-web-search, "Chat Completions": these models always
 * search before they answer.
 */
function withUnreportedSearch(
  usage: Usage,
  { provider, document }: Attempt,
  { request }: Exchange,
): Usage {
  if (usage.toolUses !== undefined || !SEARCHES_UNREPORTED.has(provider)) return usage;
  const asked = (document ?? request?.document)?.value.web_search_options;
  return isObject(asked) ? { ...usage, toolUses: { web_search: 1 } } : usage;
}

function priceOf(
  { target, provider }: Attempt,
  usage: Usage,
  prices: PriceTable,
  terms: CostTerms,
): Cost {
  const price = target.price ?? prices.find(provider, target.model);
  if (price === undefined) return UNPRICED;
  // A free model stays free: terms add nothing.
  if (price.free === true) return FREE;
  const nanoUsd = costNanoUsd(usage, price, terms);
  if (nanoUsd === undefined) return UNPRICED;
  return nanoUsd === 0 && price.input === 0 && price.output === 0
    ? FREE
    : { status: "priced", nanoUsd };
}
