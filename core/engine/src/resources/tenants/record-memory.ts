/** Records of the store in memory: how the keys of one team share one look-up. */

import { isDeepStrictEqual } from "node:util";
import type { Clock, MaybePromise } from "@sluice/contract";
import { type Believed, expireNow, recheckFrom } from "../store/believed.ts";
import { RecentMap } from "../store/recent-map.ts";
import { MEMORY_MS, type Validity } from "../store/validity.ts";

/** Entries remembered at most; unknown ones count as well. */
export const MEMORY_ENTRIES = 20_000;

/** A record as the store had it, and until when it is believed. */
export interface Found<Value> {
  /** The same object as long as the record is the same. */
  readonly value: Value | undefined;
  /** Milliseconds since 1970. */
  readonly untilMs: number;
}

interface Known<Value> extends Believed {
  readonly value: Value | undefined;
}

/** Where memories take time and validity from. */
export interface MemoryParts {
  readonly clock: Pick<Clock, "now">;
  readonly validity: Validity;
}

/** Records by their ids. Concurrent look-ups of one id ask once. */
export class RecordMemory<Value> {
  readonly #load: (id: string) => Promise<Value | undefined>;
  readonly #clock: Pick<Clock, "now">;
  readonly #validity: Validity;
  readonly #known = new RecentMap<string, Known<Value>>(MEMORY_ENTRIES);
  readonly #loading = new Map<string, Promise<Found<Value>>>();
  /** Counts the changes: a look-up that began before one is not remembered after it. */
  #changes = 0;

  constructor(load: (id: string) => Promise<Value | undefined>, { clock, validity }: MemoryParts) {
    this.#load = load;
    this.#clock = clock;
    this.#validity = validity;
  }

  /** Rejects when the store does, unless the record is known and may be served all the same. */
  find(id: string): MaybePromise<Found<Value>> {
    if (!this.#validity.isCurrent()) return this.#validity.whenCurrent().then(() => this.#find(id));
    return this.#find(id);
  }

  /** The record has changed: its next look-up asks the store. */
  expire(id: string): void {
    const known = this.#known.get(id, 0);
    if (known !== undefined) expireNow(known);
    this.#hasChanged();
  }

  /** All records may have changed. */
  expireAll(): void {
    for (const known of this.#known.values()) expireNow(known);
    this.#hasChanged();
  }

  /** Every look-up asks the store. Where it does not answer, records hold as of a time. */
  recheckAll(asOfMs: number): void {
    for (const known of this.#known.values()) recheckFrom(known, asOfMs);
    this.#hasChanged();
  }

  #hasChanged(): void {
    this.#changes += 1;
    this.#loading.clear();
  }

  #find(id: string): MaybePromise<Found<Value>> {
    const nowMs = this.#clock.now();
    const known = this.#known.get(id, nowMs);
    if (known !== undefined && nowMs < known.untilMs) return known;
    let loading = this.#loading.get(id);
    if (loading === undefined) {
      const asked = this.#ask(id, known).finally(() => {
        if (this.#loading.get(id) === asked) this.#loading.delete(id);
      });
      this.#loading.set(id, (loading = asked));
    }
    return loading;
  }

  async #ask(id: string, before: Known<Value> | undefined): Promise<Found<Value>> {
    const changes = this.#changes;
    const nowMs = this.#clock.now();
    const asOfMs = this.#validity.asOfMs();
    let loaded: Value | undefined;
    try {
      loaded = await this.#validity.ask(() => this.#load(id));
    } catch (error) {
      if (before === undefined || !this.#validity.mayServe(before.asOfMs)) throw error;
      before.untilMs = this.#clock.now() + MEMORY_MS;
      return before;
    }
    const value = isDeepStrictEqual(loaded, before?.value) ? before?.value : loaded;
    if (changes !== this.#changes) return { value, untilMs: nowMs };
    const found: Known<Value> = { value, untilMs: this.#validity.untilMs(nowMs), asOfMs };
    this.#known.set(id, found, nowMs);
    return found;
  }
}
