/** Raw numbers: values that `JSON.stringify` writes as the text that they hold. */

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
export function isRawNumber(value: unknown): boolean {
  return JSON.isRawJSON(value);
}
