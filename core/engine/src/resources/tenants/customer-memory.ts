/**
 * Customers: the records of those that requests named lately, and that others have none. Nothing of
 * them is loaded before a request names them. The memory has a bound in bytes, and the key with the
 * most loses its own first.
 */

import { isDeepStrictEqual } from "node:util";
import {
  type Clock,
  type CustomerRecord,
  type MaybePromise,
  type RecordChange,
  type TenantStore,
} from "@sluice/contract";
import { type Believed, expireNow, recheckFrom } from "../store/believed.ts";
import { MEMORY_MS, type Validity } from "../store/validity.ts";
import { HeldEntries } from "./held-entries.ts";
import { type NamedBy, NewCustomerRates } from "./new-customers.ts";
import { type Found, type MemoryParts, RecordMemory } from "./record-memory.ts";

/** A customer as the store has it. The object is the same as long as the record is. */
export interface CustomerEntry {
  readonly organizationId: string;
  /** As the request carries it. */
  readonly id: string;
  /** `undefined`: the customer has no record. */
  readonly record: CustomerRecord | undefined;
}

interface Remembered extends Believed {
  entry: CustomerEntry;
}

/** An entry with its place in maps and the rules that are made of it, in bytes. */
const ENTRY_BYTES = 2_500;

/** The customers that requests named lately. */
export class CustomerMemory {
  readonly #tenants: TenantStore | undefined;
  readonly #clock: Pick<Clock, "now">;
  readonly #validity: Validity;
  /** Whether the store has the record of any customer: without one none is looked up. */
  readonly #hasAny: RecordMemory<boolean>;
  readonly #known = new HeldEntries<Remembered>();
  readonly #loading = new Map<string, Promise<CustomerEntry>>();
  readonly #new: NewCustomerRates;
  /** Counts the changes: a look-up that began before one is not believed after it. */
  #changes = 0;

  constructor(tenants: TenantStore | undefined, parts: MemoryParts) {
    this.#tenants = tenants;
    this.#clock = parts.clock;
    this.#validity = parts.validity;
    this.#new = new NewCustomerRates(parts.clock);
    this.#hasAny = new RecordMemory(async () => {
      const page = await tenants?.customer.list({ limit: 1 });
      return page !== undefined && page.records.length > 0;
    }, parts);
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
    if (!this.#validity.isCurrent())
      return this.#validity.whenCurrent().then(() => this.#find(organizationId, id, by));
    return this.#find(organizationId, id, by);
  }

  #find(organizationId: string, id: string, by: NamedBy): MaybePromise<CustomerEntry> {
    const name = nameOf(organizationId, id);
    const nowMs = this.#clock.now();
    const known = this.#known.use(name, nowMs);
    if (known !== undefined && nowMs < known.untilMs) return known.entry;
    let loading = this.#loading.get(name);
    if (loading === undefined) {
      if (known === undefined) this.#new.count(by);
      const hasAny = this.#hasAny.find("");
      // Without a record of any customer, a new one waits for nothing.
      if (!(hasAny instanceof Promise) && hasAny.value !== true)
        return this.#keep(name, { organizationId, id, record: undefined }, by, {
          untilMs: this.#validity.untilMs(nowMs),
          asOfMs: this.#validity.asOfMs(),
        });
      const asked = this.#load(name, hasAny, organizationId, id, by).finally(() => {
        if (this.#loading.get(name) === asked) this.#loading.delete(name);
      });
      this.#loading.set(name, (loading = asked));
    }
    return loading;
  }

  /** Takes a change of a customer: the next look-up asks the store. Other kinds have no effect. */
  expire({ kind, ids }: RecordChange): void {
    if (kind !== "customer") return;
    const [organizationId, id] = ids ?? [];
    if (organizationId === undefined || id === undefined) return this.expireAll();
    this.#hasChanged();
    this.#hasAny.expireAll();
    const known = this.#known.get(nameOf(organizationId, id));
    if (known !== undefined) expireNow(known);
  }

  /** All customers may have changed. */
  expireAll(): void {
    this.#hasChanged();
    this.#hasAny.expireAll();
    for (const known of this.#known.values()) expireNow(known);
  }

  /** Every look-up asks the store. Where it does not answer, records hold as of a time. */
  recheckAll(asOfMs: number): void {
    this.#hasChanged();
    this.#hasAny.recheckAll(asOfMs);
    for (const known of this.#known.values()) recheckFrom(known, asOfMs);
  }

  #hasChanged(): void {
    this.#changes += 1;
    this.#loading.clear();
  }

  async #load(
    name: string,
    hasAny: MaybePromise<Found<boolean>>,
    organizationId: string,
    id: string,
    by: NamedBy,
  ): Promise<CustomerEntry> {
    const changes = this.#changes;
    const isValid = (): boolean => changes === this.#changes;
    const startedMs = this.#clock.now();
    const asOfMs = this.#validity.asOfMs();
    const before = this.#known.get(name);
    let record: CustomerRecord | undefined;
    try {
      record = await this.#recordOf(await hasAny, organizationId, id);
    } catch (error) {
      if (before === undefined || !this.#validity.mayServe(before.asOfMs)) throw error;
      before.untilMs = this.#clock.now() + MEMORY_MS;
      return before.entry;
    }
    return this.#keep(name, { organizationId, id, record }, by, {
      untilMs: isValid() ? this.#validity.untilMs(startedMs) : 0,
      asOfMs: isValid() ? asOfMs : -Infinity,
    });
  }

  /** Remembers what was read. Returns the entry that stands: the one before if it is the same. */
  #keep(name: string, read: CustomerEntry, by: NamedBy, until: Believed): CustomerEntry {
    const { record } = read;
    const known = this.#known.get(name);
    if (known !== undefined) {
      const isSame = isDeepStrictEqual(record, known.entry.record);
      return Object.assign(known, { entry: isSame ? known.entry : read, ...until }).entry;
    }
    if (record !== undefined) this.#new.takeBack(by);
    const bytes =
      ENTRY_BYTES +
      name.length * 4 +
      (record === undefined ? 0 : JSON.stringify(record).length * 2);
    this.#known.set(name, { entry: read, ...until }, { bytes, ...by });
    return read;
  }

  async #recordOf(
    { value: hasAny }: Found<boolean>,
    organizationId: string,
    id: string,
  ): Promise<CustomerRecord | undefined> {
    if (hasAny !== true) return undefined;
    return this.#validity.ask(async () => this.#tenants?.customer.find({ id, organizationId }));
  }
}

function nameOf(organizationId: string, id: string): string {
  return `${organizationId.length}:${organizationId}${id}`;
}
