/** The step `cost`: prices every attempt from the price table. An unknown price stays unknown. */

import { costNanoUsd, defineStep } from "@sluice/kit";
import type { Attempt, Cost, PriceTable } from "@sluice/spec";

const UNPRICED: Cost = { status: "unpriced", nanoUsd: undefined };
const FREE: Cost = { status: "free", nanoUsd: 0 };

export const cost = defineStep<Record<string, never>>({
  name: "cost",
  stability: "stable",
  summary: "Prices every attempt, in integer nano-dollars, for the spend row and the `x-sluice-cost` header.",
  config: { type: "object", properties: {} },
  provides: ["cost"],
  requires: [{ capability: "identity", reason: "a spend row belongs to a key" }],
  before: [{ capability: "cached_reply", reason: "a reply from the cache would pass it by and leave no row" }],
  create: (_config, { prices }) => ({
    async run({ exchange }, next) {
      exchange.pricer = (attempt) => priceOf(attempt, prices);
      await next();
    },
  }),
});

function priceOf(attempt: Attempt, prices: PriceTable): Cost {
  const { usage } = attempt;
  // A failure without usage was refused before it generated anything.
  if (usage === undefined) return attempt.outcome === "failure" ? FREE : UNPRICED;
  const price = prices.find(attempt.provider, attempt.target.model);
  if (price === undefined) return UNPRICED;
  const nanoUsd = costNanoUsd(usage, price);
  return nanoUsd === 0 && price.input === 0 && price.output === 0 ? FREE : { status: "priced", nanoUsd };
}
