/** Values of bodies: read by path, compared, and formatted on one line. */

import { isDeepStrictEqual } from "node:util";

/** Maximum length of a formatted value: a finding is one line. */
const MAX_CHARACTERS = 120;

/** The value at `choices[0].message.content`, `undefined` when there is none. */
export function readPath(value: unknown, path: string): unknown {
  const parts = [...path.matchAll(/[^.[\]]+/g)].map(([part]) => part);
  return parts.reduce((current: unknown, part) => {
    if (typeof current !== "object" || current === null || !Object.hasOwn(current, part))
      return undefined;
    return (current as Readonly<Record<string, unknown>>)[part];
  }, value);
}

/** Whether two values are the same JSON. */
export function sameValue(left: unknown, right: unknown): boolean {
  return isDeepStrictEqual(left, right);
}

/** Formats a value on one line and truncates a long one. */
export function describe(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length <= MAX_CHARACTERS
    ? text
    : `${text.slice(0, MAX_CHARACTERS)}… (${text.length} characters)`;
}
