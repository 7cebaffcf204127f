/**
 * The operator's billing rules: what an attempt costs that the client did not wait for, and one
 * that was sent and lost.
 */

import { type Billing, isAbandoned, isAmbiguous } from "@sluice/runtime";
import type { Attempt, Cost, Exchange, Usage } from "@sluice/contract";

/**
 * What is billed of an attempt that the client did not wait for: what was observed of it, the
 * longest output that it may have had, its prompt alone, or nothing.
 */
export type AbortBilling = "observed" | "estimate_output" | "input_only" | "free";

/**
 * What is billed of a call that was written to the upstream and then lost: its prompt, or nothing.
 */
export type AmbiguousBilling = "input_only" | "free";

/** The rules of one use of the step. */
export interface BillingRules {
  readonly onAbort: AbortBilling;
  readonly onAmbiguous: AmbiguousBilling;
}

/** The cost of an attempt whose price or usage is unknown. */
export const UNPRICED: Cost = { status: "unpriced", nanoUsd: undefined };
/** The cost of an attempt that is known to cost nothing. */
export const FREE: Cost = { status: "free", nanoUsd: 0 };

/**
 * How attempts are billed by the rules. `price`: the price of a usage that was reported or counted.
 */
export function billingBy(
  rules: BillingRules,
  price: (attempt: Attempt, usage: Usage, exchange: Exchange) => Cost,
): Billing {
  const { onAbort, onAmbiguous } = rules;
  const priceWhole = (attempt: Attempt, exchange: Exchange): Cost => {
    if (attempt.target.price?.free === true) return FREE;
    return attempt.usage === undefined
      ? costUncounted(attempt, onAmbiguous)
      : price(attempt, attempt.usage, exchange);
  };
  return {
    price(attempt, exchange) {
      const isLeft = onAbort !== "observed" && isAbandoned(exchange, attempt);
      return isLeft
        ? abandonedCost(attempt, onAbort, (cut) => priceWhole(cut, exchange))
        : priceWhole(attempt, exchange);
    },
    estimate(attempt, exchange) {
      const isBilledUnseen = onAbort === "estimate_output" || onAbort === "input_only";
      if (isBilledUnseen && isAbandoned(exchange, attempt)) {
        return onAbort === "estimate_output" ? "longest_output" : "observed";
      }
      const isLost =
        onAmbiguous === "input_only" &&
        isAmbiguous(attempt, attempt.error ?? exchange.signal.reason);
      return isLost ? "observed" : undefined;
    },
    describe(attempt, exchange) {
      if (isAmbiguous(attempt)) return { on_ambiguous: onAmbiguous };
      return isAbandoned(exchange, attempt) ? { on_abort: onAbort } : undefined;
    },
  };
}

/**
 * A failure without usage was refused before it generated anything, unless it was lost: then its
 * cost is unknown.
 */
function costUncounted(attempt: Attempt, onAmbiguous: AmbiguousBilling): Cost {
  if (attempt.outcome !== "failure") return UNPRICED;
  return onAmbiguous === "input_only" && isAmbiguous(attempt) ? UNPRICED : FREE;
}

/**
 * The cost by the operator's rule. An amount that such a rule bills and that cannot be counted is
 * unpriced, not free.
 */
function abandonedCost(
  attempt: Attempt,
  billing: AbortBilling,
  price: (attempt: Attempt) => Cost,
): Cost {
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
  const {
    reasoningTokens: _r,
    audioCompletionTokens: _a,
    imageCompletionTokens: _i,
    images: _n,
    ...prompt
  } = usage;
  return { ...prompt, completionTokens: 0, totalTokens: usage.promptTokens };
}
