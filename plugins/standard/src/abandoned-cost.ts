/** What an attempt costs that the client did not wait for. */

import type { AbortBilling, Attempt, Cost, Usage } from "@sluice/spec";

const UNPRICED: Cost = { status: "unpriced", nanoUsd: undefined };
const FREE: Cost = { status: "free", nanoUsd: 0 };

/** The cost by the operator's rule. What such a rule bills and nobody could count is unpriced, not free. */
export function abandonedCost(attempt: Attempt, billing: AbortBilling, price: (attempt: Attempt) => Cost): Cost {
  const { usage } = attempt;
  switch (billing) {
    case "observed":
      return price(attempt);
    case "free":
      return FREE;
    case "estimate_output":
      return usage === undefined ? UNPRICED : price(attempt);
    case "input_only":
      return usage === undefined ? UNPRICED : price({ ...attempt, usage: promptOnly(usage) });
    default:
      return billing satisfies never;
  }
}

function promptOnly(usage: Usage): Usage {
  const { reasoningTokens: _r, audioCompletionTokens: _a, imageCompletionTokens: _i, images: _n, ...prompt } = usage;
  return { ...prompt, completionTokens: 0, totalTokens: usage.promptTokens };
}
