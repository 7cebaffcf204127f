/** Values of bodies: found by a path, compared, and shown in a line. */

import { isDeepStrictEqual } from "node:util";

/** A finding is one line. */
const MAX_CHARACTERS = 120;

/** The value at `choices[0].message.content`, `undefined` when there is none. */
export function readPath(value: unknown, path: string): unknown {
  const parts = [...path.matchAll(/[^.[\]]+/g)].map(([part]) => part);
  return parts.reduce((current: unknown, part) => {
    if (typeof current !== "object" || current === null || !Object.hasOwn(current, part)) return undefined;
    return (current as Readonly<Record<string, unknown>>)[part];
  }, value);
}

/** Whether two values are the same JSON. */
export function sameValue(left: unknown, right: unknown): boolean {
  return isDeepStrictEqual(left, right);
}

/** A value in a line, cut when it is long. */
export function describe(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length <= MAX_CHARACTERS ? text : `${text.slice(0, MAX_CHARACTERS)}… (${text.length} characters)`;
}
