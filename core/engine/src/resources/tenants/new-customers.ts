/** How many customers without a record each key brings. */

import { type Clock, GatewayError } from "@sluice/contract";

/** How many customers without a record a key may bring in a span of time. */
export interface NewCustomers {
  readonly max: number;
  readonly perMs: number;
}

/** Who names a customer, and what bounds that. */
export interface NamedBy {
  readonly keyId: string;
  /** Absent: the number is not bounded. */
  readonly newCustomers?: NewCustomers | undefined;
  /** The bound of the whole memory. */
  readonly maxBytes: number;
}

/** Keys whose new customers are counted. One that is dropped begins anew. */
const MAX_KEYS = 10_000;

/** The counts, by key. */
export class NewCustomerRates {
  readonly #clock: Pick<Clock, "now">;
  readonly #left = new Map<string, { readonly count: number; readonly atMs: number }>();

  constructor(clock: Pick<Clock, "now">) {
    this.#clock = clock;
  }

  /** Counts a customer as new. Throws `rate_limited` where the key brings too many. */
  count(by: NamedBy): void {
    const { keyId, newCustomers } = by;
    if (newCustomers === undefined) return;
    const left = this.#leftOf(keyId, newCustomers);
    if (left >= 1) return this.#change(by, -1);
    const { max, perMs } = newCustomers;
    const retryAfterMs = Math.ceil(((1 - left) * perMs) / max);
    throw new GatewayError(
      "rate_limited",
      `This key names new customers faster than it may: ${max} in ${perMs / 1_000} s (customers.new_customers). Customers that have a record do not count.`,
      {
        retryAfterMs,
        ...(retryAfterMs > 60_000 && { headers: { "x-should-retry": "false" } }),
      },
    );
  }

  /** A customer that was counted as new has a record. */
  takeBack(by: NamedBy): void {
    this.#change(by, 1);
  }

  #change({ keyId, newCustomers }: NamedBy, by: 1 | -1): void {
    if (newCustomers === undefined) return;
    const count = Math.min(newCustomers.max, this.#leftOf(keyId, newCustomers) + by);
    if (!this.#left.has(keyId) && this.#left.size >= MAX_KEYS) this.#left.clear();
    this.#left.set(keyId, { count, atMs: this.#clock.now() });
  }

  #leftOf(keyId: string, { max, perMs }: NewCustomers): number {
    const before = this.#left.get(keyId);
    if (before === undefined) return max;
    return Math.min(max, before.count + ((this.#clock.now() - before.atMs) * max) / perMs);
  }
}
