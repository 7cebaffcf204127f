/** How far the schemas of a request grow while they are converted. */

import type { JsonObject } from "@sluice/contract";
import type { Refuse } from "../refusal.ts";

/** Completes "The provider p cannot take …". */
export const TOO_LARGE = "a JSON schema so deep or so large";

/**
 * Maximum schemas of all converted schemas of a request, and maximum characters of what its
 * references put in: a reference that is followed twice doubles its target, and targets have
 * references.
 */
const MAX_SCHEMAS = 20_000;
const MAX_INLINED_CHARACTERS = 4 * 1024 * 1024;

/** The growth of all schemas of one request. */
export class SchemaGrowth {
  /** By the refusals of a request, which its schemas share. */
  static readonly #all = new WeakMap<Refuse, SchemaGrowth>();
  readonly #refuse: Refuse;
  /** The characters of each target of a reference. */
  readonly #characters = new Map<JsonObject, number>();
  #schemas = 0;
  #inlined = 0;

  private constructor(refuse: Refuse) {
    this.#refuse = refuse;
  }

  static of(refuse: Refuse): SchemaGrowth {
    const known = this.#all.get(refuse);
    if (known !== undefined) return known;
    const growth = new SchemaGrowth(refuse);
    this.#all.set(refuse, growth);
    return growth;
  }

  /** Counts one more schema; `target` is what a reference puts in. Refuses beyond the bounds. */
  add(path: string, target?: JsonObject): void {
    this.#schemas += 1;
    if (target !== undefined) this.#inlined += this.#charactersOf(target);
    if (this.#schemas > MAX_SCHEMAS || this.#inlined > MAX_INLINED_CHARACTERS)
      this.#refuse(path, TOO_LARGE);
  }

  #charactersOf(target: JsonObject): number {
    const known = this.#characters.get(target);
    if (known !== undefined) return known;
    const { length } = JSON.stringify(target);
    this.#characters.set(target, length);
    return length;
  }
}
