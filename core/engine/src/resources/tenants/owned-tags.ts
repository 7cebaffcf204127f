/**
 * Tags that stand on a record of the store. A request may name many tags that no other has: the
 * memory has a bound, and the key that brought the most loses its own first.
 */

import type { Clock, KeyStore, MaybePromise } from "@sluice/contract";
import type { Validity } from "../store/validity.ts";
import { HeldEntries } from "./held-entries.ts";
import { MEMORY_ENTRIES, type MemoryParts } from "./record-memory.ts";

interface Known {
  isOwned: boolean;
  /** Milliseconds since 1970. */
  untilMs: number;
}

/** A tag with its places in maps, at most. */
const TAG_BYTES = 1_024;
const MAX_BYTES = MEMORY_ENTRIES * TAG_BYTES;

/** Tags, and whether they stand on a record of the store, in memory. */
export class OwnedTags {
  readonly #keys: Pick<KeyStore, "ownedTags">;
  readonly #clock: Pick<Clock, "now">;
  readonly #validity: Validity;
  #known = new HeldEntries<Known>();
  /** Counts the changes: a look-up that began before one is not remembered after it. */
  #changes = 0;

  constructor(keys: Pick<KeyStore, "ownedTags">, { clock, validity }: MemoryParts) {
    this.#keys = keys;
    this.#clock = clock;
    this.#validity = validity;
  }

  /** Of the tags that a key names, those that are owned. Rejects when the store does. */
  owned(tags: readonly string[], keyId: string): MaybePromise<readonly string[]> {
    if (this.#keys.ownedTags === undefined) return [];
    if (!this.#validity.isCurrent())
      return this.#validity.whenCurrent().then(() => this.#owned(tags, keyId));
    return this.#owned(tags, keyId);
  }

  /** A tag has come to a record, or left one; without a tag, any may have. */
  expire(tag?: string): void {
    this.#changes++;
    if (tag === undefined) this.#known = new HeldEntries();
    else {
      const known = this.#known.get(tag);
      if (known !== undefined) known.untilMs = 0;
    }
  }

  #owned(tags: readonly string[], keyId: string): MaybePromise<readonly string[]> {
    const nowMs = this.#clock.now();
    const unknown: string[] = [];
    const owned = new Set<string>();
    for (const tag of tags) {
      const known = this.#known.use(tag, nowMs);
      if (known === undefined || nowMs >= known.untilMs) unknown.push(tag);
      else if (known.isOwned) owned.add(tag);
    }
    return unknown.length > 0
      ? this.#load(tags, unknown, owned, keyId)
      : tags.filter((tag) => owned.has(tag));
  }

  async #load(
    tags: readonly string[],
    unknown: readonly string[],
    known: ReadonlySet<string>,
    keyId: string,
  ): Promise<readonly string[]> {
    const changes = this.#changes;
    const found = new Set(
      await this.#validity.ask(async () => (await this.#keys.ownedTags?.(unknown)) ?? []),
    );
    const untilMs = this.#validity.untilMs(this.#clock.now());
    if (changes === this.#changes)
      for (const tag of unknown) this.#keep(tag, { isOwned: found.has(tag), untilMs }, keyId);
    return tags.filter((tag) => found.has(tag) || known.has(tag));
  }

  /** A tag counts for the key that brought it, also where others name it later. */
  #keep(tag: string, read: Known, keyId: string): void {
    const known = this.#known.get(tag);
    if (known !== undefined) Object.assign(known, read);
    else this.#known.set(tag, read, { bytes: TAG_BYTES, keyId, maxBytes: MAX_BYTES });
  }
}
