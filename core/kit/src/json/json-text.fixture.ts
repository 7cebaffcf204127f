/**
 * Arbitrary JSON texts in unusual forms: odd white space, escapes, duplicates, digits beyond a
 * double.
 */

import fc from "fast-check";

const space = fc.constantFrom("", "", "", " ", "\n", "\t", "\r\n ");

const escaped = (text: string): string =>
  `"${Array.from({ length: text.length }, (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}`).join("")}"`;

const string = fc.oneof(
  fc.string({ unit: "binary", maxLength: 12 }).map((text) => JSON.stringify(text)),
  fc.string({ unit: "binary", maxLength: 4 }).map(escaped),
  fc.constantFrom('"\\\\"', '"\\""', '"{\\"a\\":[1,2]}"', '"a\\/b"', '"]},"', '"\\\\\\""'),
);

const number = fc.oneof(
  fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n }).map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
  fc.constantFrom("1E+2", "-0.0e-1"),
);

/** A member's key, quoted: from a small set, so that duplicates and hits are common, or any key. */
const key = fc.oneof(
  fc.constantFrom('"model"', '"seed"', '"a"', '"mod\\u0065l"', '""', '"\\u0061"'),
  string,
);

const { value, object } = fc.letrec<{ value: string; object: string; array: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: "small", withCrossShrink: true },
    fc.oneof(string, number, fc.constantFrom("true", "false", "null")),
    tie("object"),
    tie("array"),
  ),
  array: fc
    .array(fc.tuple(space, tie("value"), space), { maxLength: 4 })
    .map((items) => `[${items.map((item) => item.join("")).join(",")}]`),
  object: fc
    .tuple(
      fc.array(fc.tuple(space, key, space, space, tie("value"), space), { maxLength: 6 }),
      space,
    )
    .map(
      ([members, end]) =>
        `{${members.map(([a, name, b, c, of, d]) => `${a}${name}${b}:${c}${of}${d}`).join(",")}${members.length === 0 ? end : ""}}`,
    ),
}));

/** Texts of JSON objects, with white space around. */
export const objectText = fc.tuple(space, object, space).map((parts) => parts.join(""));

/** Texts of any JSON value. */
export const valueText = value;

/** A megabyte of each input that makes a backtracking reader slow. */
export const hostileTexts: Readonly<Record<string, string>> = {
  "backslashes in a string": `{"a":"${"\\".repeat(1_000_000)}`,
  "escaped quotes in a string": `{"a":"${'\\"'.repeat(500_000)}`,
  "backslash runs and quotes": `{"a":"${'\\\\\\"'.repeat(250_000)}"}`,
  "backslashes without an end, in a key": `{"${"\\".repeat(1_000_000)}":1}`,
  quotes: `{${'"'.repeat(1_000_000)}`,
  "empty members": `{${'"":"",'.repeat(160_000)}`,
  "open brackets": `{"a":${"[".repeat(1_000_000)}`,
  "open braces": `{"a":${"{".repeat(1_000_000)}`,
  "closed pairs": `{"a":[${"[],".repeat(300_000)}[]]}`,
  "white space": `{${" ".repeat(1_000_000)}`,
  digits: `{"a":${"1".repeat(1_000_000)}}`,
  commas: `{${",".repeat(1_000_000)}`,
  colons: `{"a"${":".repeat(1_000_000)}`,
};
