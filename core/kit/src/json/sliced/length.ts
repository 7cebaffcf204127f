/** Lengths of JSON texts, measured on their values: nothing is written. */

import type { JsonObject, JsonValue } from "@sluice/contract";

/** What a number, a boolean or null is taken for, with its comma. */
const SCALAR_CHARACTERS = 8;

/** Whether the text of a value has at least so many characters. Looks at no more than it must. */
export function isAtLeast(value: JsonValue, characters: number): boolean {
  // A scalar has one character, a string its two quotes.
  return lessLength(value, characters, 1) <= 0;
}

/**
 * A number less the approximate length of a value's text. Ends early below zero. `ofScalar`: the
 * length of a number, a boolean or null.
 */
export function lessLength(
  value: JsonValue | undefined,
  from: number,
  ofScalar = SCALAR_CHARACTERS,
): number {
  if (typeof value === "string") return from - value.length - 2;
  if (typeof value !== "object" || value === null) return from - ofScalar;
  let left = from - 2;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length && left >= 0; at += 1)
      left = lessLength(value[at] as JsonValue, left, ofScalar);
    return left;
  }
  for (const name in value as JsonObject) {
    left = lessLength((value as JsonObject)[name], left - name.length - 3, ofScalar);
    if (left < 0) return left;
  }
  return left;
}
