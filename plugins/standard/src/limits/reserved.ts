/** What was reserved under a budget for the call that follows: the usage of its row, where nothing else is known of it. */

import type { Exchange, Usage } from "@sluice/contract";
import { defineSlot } from "@sluice/kit";

const RESERVED = defineSlot<Usage>("reserved usage");

/** Keeps the usage that a reservation was priced by. */
export function keepReserved(exchange: Exchange, usage: Usage): void {
  RESERVED.set(exchange, usage);
}

/** The usage that was reserved last; `undefined` without a budget. */
export function reservedUsage(exchange: Exchange): Usage | undefined {
  return RESERVED.get(exchange);
}
