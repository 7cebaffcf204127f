/** Changes values inside JSON by their path, on a copy. */

import type { JsonObject, JsonValue } from "@sluice/contract";
import { putMember } from "../../json/parse.ts";

/** Names and indexes, outermost first. */
export type JsonPath = readonly (string | number)[];

/** A copy of `value` with another value at `path`. Values outside the path are shared. */
export function setAt<T extends JsonValue>(value: T, path: JsonPath, to: JsonValue, depth = 0): T {
  const key = path[depth];
  if (key === undefined) return to as T;
  if (Array.isArray(value)) {
    const copy = (value as readonly JsonValue[]).slice();
    copy[key as number] = setAt(memberOf(copy, key), path, to, depth + 1);
    return copy as unknown as T;
  }
  const record = value as JsonObject;
  return {
    ...record,
    [key]: setAt(memberOf(record, key), path, to, depth + 1),
  } as unknown as T;
}

type Container = Record<string | number, JsonValue>;

/** A value's own member: `__proto__` and others are no members of every object. */
function memberOf(value: JsonValue, key: string | number): JsonValue {
  return Object.hasOwn(value as Container, key) ? ((value as Container)[key] ?? null) : null;
}

/**
 * A copy of a value with other values at many paths: the same as `setAt` for one path after the
 * other. Each container on the paths is copied once.
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
