/** Raw numbers: values that `JSON.stringify` writes as the text that they hold. */

import type { JsonValue } from "@sluice/contract";

declare global {
  // The members of JSON that the library of TypeScript does not declare yet.
  interface JSON {
    rawJSON(text: string): object;
    isRawJSON(value: unknown): boolean;
  }
}

/** The value that is written as a text, which is the text of one JSON number. */
export function rawNumber(text: string): object {
  return JSON.rawJSON(text);
}

/** Whether a value is a raw number. It is an object that has no members of JSON. */
export function isRawNumber(value: unknown): value is { readonly rawJSON: string } {
  return JSON.isRawJSON(value);
}

/** Whether a value has a raw number at any place. */
export function hasRawNumber(value: JsonValue | undefined): boolean {
  if (typeof value !== "object" || value === null) return false;
  return isRawNumber(value) || Object.values(value).some(hasRawNumber);
}
