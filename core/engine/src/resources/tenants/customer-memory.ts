/**
 * Customers: the records of those that requests named lately, and that others have none. Nothing of
 * them is loaded before a request names them. The memory has a bound in bytes, and the key with the
 * most loses its own first.
 */

import { isDeepStrictEqual } from "node:util";
import {
  type Clock,
  type CustomerRecord,
  GatewayError,
  type MaybePromise,
  type TenantStore,
} from "@sluice/contract";
import { MEMORY_MS, RecordMemory } from "./record-memory.ts";

/** A customer as the store has it. The object is the same as long as the record is. */
export interface CustomerEntry {
  readonly organizationId: string;
  /** As the request carries it. */
  readonly id: string;
  /** `undefined`: the customer has no record. */
  readonly record: CustomerRecord | undefined;
}

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

interface Remembered {
  entry: CustomerEntry;
  untilMs: number;
  bytes: number;
  readonly holder: Holder;
}

/** What one key brought, the one that was named the longest ago first. */
interface Holder {
  readonly keyId: string;
  readonly names: Set<string>;
  bytes: number;
}

/** An entry with its place in maps and the rules that are made of it, in bytes. */
const ENTRY_BYTES = 2_500;
/** How many holders are compared where one must lose an entry. */
const MAX_COMPARED = 256;
/** Keys whose new customers are counted. One that is dropped begins anew. */
const MAX_KEYS = 10_000;

/** The customers that requests named lately. */
export class CustomerMemory {
  readonly #tenants: TenantStore | undefined;
  readonly #clock: Pick<Clock, "now">;
  /** Whether the store has the record of any customer: without one none is looked up. */
  readonly #hasAny: RecordMemory<boolean>;
  readonly #known = new Map<string, Remembered>();
  readonly #holders = new Map<string, Holder>();
  readonly #loading = new Map<string, Promise<CustomerEntry>>();
  readonly #left = new Map<string, { readonly count: number; readonly atMs: number }>();
  #bytes = 0;
  /** Counts the changes: a look-up that began before one is not believed after it. */
  #changes = 0;

  constructor(tenants: TenantStore | undefined, clock: Pick<Clock, "now">) {
    this.#tenants = tenants;
    this.#clock = clock;
    this.#hasAny = new RecordMemory(async () => {
      const page = await tenants?.customer.list({ limit: 1 });
      return page !== undefined && page.records.length > 0;
    }, clock);
  }

  /** How many customers are remembered. */
  get size(): number {
    return this.#known.size;
  }

  /**
   * The customer of an organization, `""` for none. Throws or rejects with `rate_limited` where the
   * key brings too many that have no record; rejects when the store does.
   */
  find(organizationId: string, id: string, by: NamedBy): MaybePromise<CustomerEntry> {
    const name = `${organizationId.length}:${organizationId}${id}`;
    const known = this.#known.get(name);
    if (known !== undefined) {
      known.holder.names.delete(name);
      known.holder.names.add(name);
      if (this.#clock.now() < known.untilMs) return known.entry;
    }
    let loading = this.#loading.get(name);
    if (loading === undefined) {
      if (known === undefined) this.#countNew(by);
      const asked = this.#load(name, organizationId, id, by).finally(() => {
        if (this.#loading.get(name) === asked) this.#loading.delete(name);
      });
      this.#loading.set(name, (loading = asked));
    }
    return loading;
  }

  /** Every later look-up asks the store, because records have just been changed. */
  forget(): void {
    this.#changes += 1;
    this.#hasAny.forget();
    this.#loading.clear();
    for (const known of this.#known.values()) known.untilMs = 0;
  }

  async #load(
    name: string,
    organizationId: string,
    id: string,
    by: NamedBy,
  ): Promise<CustomerEntry> {
    const changes = this.#changes;
    const startedMs = this.#clock.now();
    const { value: hasAny } = await this.#hasAny.find("");
    const record =
      hasAny === true ? await this.#tenants?.customer.find({ id, organizationId }) : undefined;
    const known = this.#known.get(name);
    const isSame = known !== undefined && isDeepStrictEqual(record, known.entry.record);
    const entry = isSame ? known.entry : { organizationId, id, record };
    const untilMs = changes === this.#changes ? startedMs + MEMORY_MS : 0;
    if (known !== undefined) {
      known.entry = entry;
      known.untilMs = untilMs;
      return entry;
    }
    if (record !== undefined) this.#changeLeft(by, 1);
    this.#keep(name, entry, untilMs, by);
    return entry;
  }

  #keep(name: string, entry: CustomerEntry, untilMs: number, by: NamedBy): void {
    const { record } = entry;
    const bytes =
      ENTRY_BYTES +
      name.length * 4 +
      (record === undefined ? 0 : JSON.stringify(record).length * 2);
    while (this.#bytes + bytes > by.maxBytes && this.#known.size > 0) this.#dropOne();
    let holder = this.#holders.get(by.keyId);
    if (holder === undefined)
      this.#holders.set(by.keyId, (holder = { keyId: by.keyId, names: new Set(), bytes: 0 }));
    holder.names.add(name);
    holder.bytes += bytes;
    this.#bytes += bytes;
    this.#known.set(name, { entry, untilMs, bytes, holder });
  }

  /** Drops the oldest entry of the key that has the most. */
  #dropOne(): void {
    let most: Holder | undefined;
    let compared = 0;
    for (const holder of this.#holders.values()) {
      if (most === undefined || holder.bytes > most.bytes) most = holder;
      compared += 1;
      if (compared === MAX_COMPARED) break;
    }
    const [oldest] = most?.names ?? [];
    const dropped = oldest === undefined ? undefined : this.#known.get(oldest);
    if (most === undefined || oldest === undefined || dropped === undefined) return;
    this.#known.delete(oldest);
    most.names.delete(oldest);
    most.bytes -= dropped.bytes;
    this.#bytes -= dropped.bytes;
    if (most.names.size === 0) this.#holders.delete(most.keyId);
  }

  /** Counts a customer as new; one that has a record is taken back. */
  #countNew(by: NamedBy): void {
    const { keyId, newCustomers } = by;
    if (newCustomers === undefined) return;
    const left = this.#leftOf(keyId, newCustomers);
    if (left >= 1) return this.#changeLeft(by, -1);
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

  #changeLeft({ keyId, newCustomers }: NamedBy, by: 1 | -1): void {
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
