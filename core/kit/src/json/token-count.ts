/** Counts of tokens as upstreams tell them. */

import type { JsonValue } from "@sluice/spec";

/**
 * No reply has as many: a thousand times the longest context window. What is beyond is no count, and must not become money: two
 * such costs are more than a ledger's sum can hold.
 */
const MOST_TOKENS = 1_000_000_000;

/** A whole number of tokens that a reply may have, `undefined` for everything else: unknown is not zero. */
export function tokenCount(value: JsonValue | undefined): number | undefined {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= MOST_TOKENS ? value : undefined;
}
