/** Narrowing of JSON values. */

import type { JsonObject } from "@sluice/spec";

/** Tells an object from every other value; arrays and null are none. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
