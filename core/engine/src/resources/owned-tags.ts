/** Tags that stand on a record of the store, with a short memory. */

import type { Clock, KeyStore } from "@sluice/contract";
import { MEMORY_ENTRIES, MEMORY_MS } from "./tenants/record-memory.ts";

/** Tags, and whether they stand on a record of the store, with a short memory. */
export class OwnedTags {
  readonly #keys: Pick<KeyStore, "ownedTags">;
  readonly #clock: Clock;
  readonly #known = new Map<string, { readonly isOwned: boolean; readonly untilMs: number }>();
  /** Counts the changes: a look-up that began before one is not remembered after it. */
  #changes = 0;

  constructor(keys: Pick<KeyStore, "ownedTags">, clock: Clock) {
    this.#keys = keys;
    this.#clock = clock;
  }

  owned(tags: readonly string[]): readonly string[] | Promise<readonly string[]> {
    if (this.#keys.ownedTags === undefined) return [];
    const nowMs = this.#clock.now();
    const unknown = tags.filter((tag) => nowMs >= (this.#known.get(tag)?.untilMs ?? 0));
    if (unknown.length > 0) return this.#load(tags, unknown);
    return tags.filter((tag) => this.#known.get(tag)?.isOwned === true);
  }

  forget(): void {
    this.#changes++;
    this.#known.clear();
  }

  async #load(tags: readonly string[], unknown: readonly string[]): Promise<readonly string[]> {
    const changes = this.#changes;
    const found = new Set(await this.#keys.ownedTags?.(unknown));
    const owned = tags.filter((tag) => found.has(tag) || this.#known.get(tag)?.isOwned === true);
    if (changes === this.#changes) {
      if (this.#known.size + unknown.length > MEMORY_ENTRIES) this.#known.clear();
      const untilMs = this.#clock.now() + MEMORY_MS;
      for (const tag of unknown) this.#known.set(tag, { isOwned: found.has(tag), untilMs });
    }
    return owned;
  }
}
