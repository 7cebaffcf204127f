/**
 * Bounds of the echo: its work is done in the thread that serves, so it is known to be small before
 * it begins.
 */

import { isObject } from "@sluice/kit";
import { GatewayError, type JsonObject, type JsonValue } from "@sluice/contract";

/** Of a body, about: characters of texts and names, and a few for each value. */
const MAX_BODY = 65_536;
const VALUE = 8;
/** Numbers of all vectors of a reply. */
const MAX_NUMBERS = 32_768;
/** Words times dimensions. */
const MAX_STEPS = 1_048_576;

/** Throws `body_too_large` for a body over 64 KiB. Values beyond the bound are not visited. */
export function checkBody(body: JsonObject): void {
  if (measure(body, MAX_BODY) >= 0) return;
  throw new GatewayError(
    "body_too_large",
    "The provider echo takes bodies of 64 KiB at most; it is for trying things out.",
  );
}

/** Throws `invalid_field` where vectors would have too many numbers, or take too many steps. */
export function checkVectors(inputs: number, words: number, dimensions: number): void {
  const isMany = inputs * dimensions > MAX_NUMBERS;
  if (!isMany && words * dimensions <= MAX_STEPS) return;
  const [count, most, what] = isMany
    ? [inputs, MAX_NUMBERS, "inputs"]
    : [words, MAX_STEPS, "words"];
  const message = `The provider echo makes no vectors of ${dimensions} dimensions for ${count} ${what}; ${what} times dimensions must be at most ${most}.`;
  throw new GatewayError("invalid_field", message, { param: "dimensions" });
}

/** The rest of a bound after a value; negative when the value exceeds it. */
function measure(value: JsonValue | undefined, bound: number): number {
  let left = bound - VALUE;
  if (typeof value === "string") return left - value.length;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && left >= 0; index += 1)
      left = measure((value as readonly JsonValue[])[index], left);
  } else if (isObject(value)) {
    for (const name in value) {
      if (left < 0) break;
      left = measure(value[name], left - name.length);
    }
  }
  return left;
}
