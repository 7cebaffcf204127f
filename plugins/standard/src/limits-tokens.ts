/** Tokens of windows: what a request takes of one, and what its attempts have used. */

import type { Attempt } from "@sluice/spec";
import type { TokenEstimate } from "./limits-estimate.ts";
import type { Rule } from "./limits-rule.ts";

/**
 * The tokens to take of a window. A long reply is cut to the window, and to what is left of it to the key, so that it can be asked
 * for at all; a long prompt is not.
 */
export function tokensFor(rule: Rule, estimate: TokenEstimate | undefined, left: number): number {
  if (rule.kind !== "tokens" || estimate === undefined) return 0;
  const { promptTokens, completionTokens } = estimate;
  return Math.max(promptTokens, Math.min(promptTokens + completionTokens, rule.claim.limit, left));
}

/** The tokens of attempts. Where a reply told none, what was taken stays taken. */
export function tokensUsed(attempts: readonly Attempt[], taken: number): number {
  let sum = 0;
  for (const { usage, outcome } of attempts) {
    if (usage !== undefined) sum += usage.totalTokens;
    else if (outcome !== "failure") return taken;
  }
  return sum;
}
