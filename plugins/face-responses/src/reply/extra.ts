/** Data that an upstream needs back, as the deltas of a stream add to it. */

import type { JsonObject, JsonValue } from "@sluice/contract";

/** Members by name: the last value of each counts. A copy for each delta takes quadratic time. */
export class Extra {
  #members: Map<string, JsonValue | undefined> | undefined;

  add(members: JsonObject): void {
    this.#members ??= new Map();
    for (const [name, value] of Object.entries(members)) this.#members.set(name, value);
  }

  /** All members; `undefined` where none were given. */
  get all(): JsonObject | undefined {
    return this.#members && Object.fromEntries(this.#members);
  }

  get isGiven(): boolean {
    return this.#members !== undefined;
  }
}
