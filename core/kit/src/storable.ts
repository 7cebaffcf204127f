/** Whether a reply may be kept for other requests. */

import type { Exchange } from "@sluice/contract";
import { defineSlot } from "./slots.ts";

const WITHHELD = defineSlot<true>("withheld from caches");

/**
 * Keeps the reply of an exchange out of every cache, for good. For a step that changes or blocks
 * what it guards; what is kept is decided when the exchange is over.
 */
export function withholdReply(exchange: Pick<Exchange, "slots">): void {
  WITHHELD.set(exchange, true);
}

/** Whether no step has withheld the reply from caches. */
export function isStorable(exchange: Pick<Exchange, "slots">): boolean {
  return WITHHELD.get(exchange) === undefined;
}
