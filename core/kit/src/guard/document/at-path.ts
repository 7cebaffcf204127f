/** Changes values inside JSON by their path, on a copy. */

import type { JsonObject, JsonValue } from "@sluice/contract";
import { putMember } from "../../json/parse.ts";

/** Names and indexes, outermost first. */
export type JsonPath = readonly (string | number)[];

type Container = Record<string | number, JsonValue>;

/** A value's own member: `__proto__` and others are no members of every object. */
function memberOf(value: JsonValue, key: string | number): JsonValue {
  return Object.hasOwn(value as Container, key) ? ((value as Container)[key] ?? null) : null;
}

/**
 * A copy of a value with other values at paths. Values outside the paths are shared; each container
 * on them is copied once.
 */
export class PathCopy {
  #value: JsonValue;
  /** The containers of the copy that the original does not share. */
  readonly #own = new Set<JsonValue>();

  constructor(value: JsonValue) {
    this.#value = value;
  }

  /** The copy, with the values set so far. */
  get value(): JsonValue {
    return this.#value;
  }

  /** Sets the value at a path. */
  set(path: JsonPath, to: JsonValue): void {
    const last = path.at(-1);
    if (last === undefined) {
      this.#value = to;
      return;
    }
    let into = this.#owned(this.#value);
    this.#value = into;
    for (const key of path.slice(0, -1)) {
      const inner = this.#owned(memberOf(into, key));
      put(into, key, inner);
      into = inner;
    }
    put(into, last, to);
  }

  /** A container that may be changed: the same one where it is of the copy alone. */
  #owned(value: JsonValue): Container {
    if (this.#own.has(value)) return value as Container;
    if (value === null) throw new TypeError("a path leads through a missing value");
    const copy = (Array.isArray(value) ? value.slice() : { ...(value as JsonObject) }) as Container;
    this.#own.add(copy);
    return copy;
  }
}

function put(into: Container, key: string | number, value: JsonValue): void {
  if (typeof key === "number") into[key] = value;
  else putMember(into, key, value);
}
