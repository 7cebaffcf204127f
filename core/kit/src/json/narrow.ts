/** Narrowing of JSON values. */

import type { JsonObject } from "@sluice/contract";

/** Whether a value is an object; arrays and null are not. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
