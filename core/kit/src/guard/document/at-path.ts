/** Changes values inside JSON by their path, on a copy. */

import type { JsonObject, JsonValue } from "@sluice/contract";

/** Names and indexes, outermost first. */
export type JsonPath = readonly (string | number)[];

/** A copy of `value` with another value at `path`. Values outside the path are shared. */
export function setAt<T extends JsonValue>(value: T, path: JsonPath, to: JsonValue, depth = 0): T {
  const key = path[depth];
  if (key === undefined) return to as T;
  if (Array.isArray(value)) {
    const copy = (value as readonly JsonValue[]).slice();
    copy[key as number] = setAt(copy[key as number] ?? null, path, to, depth + 1);
    return copy as unknown as T;
  }
  const record = value as JsonObject;
  return {
    ...record,
    [key]: setAt((record[key] ?? null) as JsonValue, path, to, depth + 1),
  } as unknown as T;
}
