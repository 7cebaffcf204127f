/** Tags that stand on a record of the store. */

import type { Clock, KeyStore, MaybePromise } from "@sluice/contract";
import { RecentMap } from "./store/recent-map.ts";
import type { Validity } from "./store/validity.ts";
import { MEMORY_ENTRIES, type MemoryParts } from "./tenants/record-memory.ts";

interface Known {
  readonly isOwned: boolean;
  readonly untilMs: number;
}

/** Tags, and whether they stand on a record of the store, in memory. */
export class OwnedTags {
  readonly #keys: Pick<KeyStore, "ownedTags">;
  readonly #clock: Pick<Clock, "now">;
  readonly #validity: Validity;
  readonly #known = new RecentMap<string, Known>(MEMORY_ENTRIES);
  /** Counts the changes: a look-up that began before one is not remembered after it. */
  #changes = 0;

  constructor(keys: Pick<KeyStore, "ownedTags">, { clock, validity }: MemoryParts) {
    this.#keys = keys;
    this.#clock = clock;
    this.#validity = validity;
  }

  /** Rejects when the store does. */
  owned(tags: readonly string[]): MaybePromise<readonly string[]> {
    if (this.#keys.ownedTags === undefined) return [];
    if (!this.#validity.isCurrent())
      return this.#validity.whenCurrent().then(() => this.#owned(tags));
    return this.#owned(tags);
  }

  /** A tag has come to a record, or left one; without a tag, any may have. */
  expire(tag?: string): void {
    this.#changes++;
    if (tag === undefined) this.#known.clear();
    else this.#known.delete(tag);
  }

  #owned(tags: readonly string[]): MaybePromise<readonly string[]> {
    const nowMs = this.#clock.now();
    const known = new Map(tags.map((tag) => [tag, this.#known.get(tag, nowMs)]));
    const unknown = tags.filter((tag) => nowMs >= (known.get(tag)?.untilMs ?? 0));
    const owned = new Set(tags.filter((tag) => known.get(tag)?.isOwned === true));
    return unknown.length > 0
      ? this.#load(tags, unknown, owned)
      : tags.filter((tag) => owned.has(tag));
  }

  async #load(
    tags: readonly string[],
    unknown: readonly string[],
    known: ReadonlySet<string>,
  ): Promise<readonly string[]> {
    const changes = this.#changes;
    const found = new Set(
      await this.#validity.ask(async () => (await this.#keys.ownedTags?.(unknown)) ?? []),
    );
    const nowMs = this.#clock.now();
    const untilMs = this.#validity.untilMs(nowMs);
    if (changes === this.#changes)
      for (const tag of unknown) this.#known.set(tag, { isOwned: found.has(tag), untilMs }, nowMs);
    return tags.filter((tag) => found.has(tag) || known.has(tag));
  }
}
