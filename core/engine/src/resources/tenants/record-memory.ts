/** Records of the store, with a short memory: how the keys of one team share one look-up. */

import { isDeepStrictEqual } from "node:util";
import type { Clock, MaybePromise } from "@sluice/contract";

/** How long a look-up is believed: another process may have changed the store. */
export const MEMORY_MS = 1_000;
/** Entries remembered at most; unknown ones count as well. */
export const MEMORY_ENTRIES = 10_000;

/** A record as the store had it, and until when it is believed. */
export interface Found<Value> {
  /** The same object as long as the record is the same. */
  readonly value: Value | undefined;
  /** Milliseconds since 1970. */
  readonly untilMs: number;
}

/** Records by their ids. Concurrent look-ups of one id ask once. */
export class RecordMemory<Value> {
  readonly #load: (id: string) => Promise<Value | undefined>;
  readonly #clock: Pick<Clock, "now">;
  readonly #known = new Map<string, Found<Value>>();
  readonly #loading = new Map<string, Promise<Found<Value>>>();
  /** Counts the changes: a look-up that began before one is not remembered after it. */
  #changes = 0;

  constructor(load: (id: string) => Promise<Value | undefined>, clock: Pick<Clock, "now">) {
    this.#load = load;
    this.#clock = clock;
  }

  /** Rejects when the store does. */
  find(id: string): MaybePromise<Found<Value>> {
    const known = this.#known.get(id);
    if (known !== undefined && this.#clock.now() < known.untilMs) return known;
    let loading = this.#loading.get(id);
    if (loading === undefined) {
      const asked = this.#ask(id, known?.value).finally(() => {
        if (this.#loading.get(id) === asked) this.#loading.delete(id);
      });
      this.#loading.set(id, (loading = asked));
    }
    return loading;
  }

  /** Every later look-up asks the store. */
  forget(): void {
    this.#changes += 1;
    this.#known.clear();
    this.#loading.clear();
  }

  async #ask(id: string, before: Value | undefined): Promise<Found<Value>> {
    const changes = this.#changes;
    const nowMs = this.#clock.now();
    const loaded = await this.#load(id);
    const value = isDeepStrictEqual(loaded, before) ? before : loaded;
    const found: Found<Value> = { value, untilMs: nowMs + MEMORY_MS };
    if (changes !== this.#changes) return { value, untilMs: nowMs };
    if (this.#known.size >= MEMORY_ENTRIES) this.#known.clear();
    this.#known.set(id, found);
    return found;
  }
}
