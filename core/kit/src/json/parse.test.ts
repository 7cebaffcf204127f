import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { amount } from "@sluice/testing";
import { hostileTexts } from "./json-text.fixture.ts";
import { parseJson, putMember } from "./parse.ts";

/** A value, and a text of it. */
interface Written {
  readonly value: unknown;
  readonly text: string;
}

/** Names that begin alike when their escapes are not read, and that are special to objects. */
const name = fc.oneof(
  fc.constantFrom("a", "model", "\\u006", "\\", '"', "\n", '\\"', "", "0", "__proto__", "\ud800"),
  fc.string({ unit: "binary", maxLength: 3 }),
);

/** A name in quotes, each character as it is where that is possible, or as an escape. */
const quoted = (text: string, isEscaped: (at: number) => boolean): string =>
  `"${text
    .split("")
    .map((character, at) =>
      isEscaped(at)
        ? `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`
        : JSON.stringify(character).slice(1, -1),
    )
    .join("")}"`;

const { value: written } = fc.letrec<{ value: Written; list: Written; object: Written }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: "small" },
    fc
      .constantFrom<unknown>(null, true, 1.5, "", ' : "', '{"a\\":1}', "\\")
      .map((value) => ({ value, text: JSON.stringify(value) })),
    tie("list"),
    tie("object"),
  ),
  list: fc.array(tie("value"), { maxLength: 4 }).map((items) => ({
    value: items.map(({ value }) => value),
    text: `[${items.map(({ text }) => text).join(",")}]`,
  })),
  object: fc
    .array(fc.tuple(name, fc.nat(), fc.constantFrom("", " ", "\n\t"), tie("value")), {
      maxLength: 5,
    })
    .map((members) => {
      const value: Record<string, unknown> = {};
      for (const [key, , , member] of members) putMember(value, key, member.value);
      const texts = members.map(
        ([key, bits, gap, { text }]) =>
          `${quoted(key, (at) => (bits & (1 << at)) !== 0)}${gap}:${gap}${text}`,
      );
      return { value, text: `{${texts.join(",")}}` };
    }),
}));

/** Texts whose second name V8 reads as the second name of the first. */
const CONFUSED: readonly (readonly [string, string, unknown])[] = [
  ['{"m":1,"\\\\":2}', '{"m":1,"\\u0061":2}', { m: 1, a: 2 }],
  ['{"m":1,"\\\\u006":2}', '{"m":1,"\\u006dodel":2}', { m: 1, model: 2 }],
  ['{"m":1,"\\\\u006":2}', '{"m":1,"\\u006d" :{"\\"":[]}}', { m: { '"': [] } }],
  ['{"m":1,"a\\\\":2}', '{"m":1,"a\\"":2}', { m: 1, 'a"': 2 }],
  ['{"m":1,"\\\\\\\\":2}', '{"m":1,"\\\\\\"":2}', { m: 1, '\\"': 2 }],
];

/** The fault that a parser finds in a text; `undefined`: none. */
function faultOf(parse: (text: string) => unknown, text: string): string | undefined {
  try {
    parse(text);
    return undefined;
  } catch (error) {
    return String(error);
  }
}

describe("parseJson", () => {
  it("reads the names that a text has", () => {
    fc.assert(
      fc.property(written, ({ value, text }) => {
        expect(JSON.stringify(parseJson(text))).toBe(JSON.stringify(value));
      }),
      { numRuns: amount(300, 5_000) },
    );
  });

  it.each(CONFUSED)("reads no name of %s in %s", (before, text, value) => {
    parseJson(before);
    JSON.parse(before);
    expect(parseJson(text)).toEqual(value);
  });

  it("takes the last of two members of one name, in any spelling, at the place of the first", () => {
    expect(JSON.stringify(parseJson('{"a":1,"b":2,"\\u0061":3}'))).toBe('{"a":3,"b":2}');
    expect(JSON.stringify(parseJson('{"\\u0061":1,"b":2,"a":3}'))).toBe('{"a":3,"b":2}');
    expect(JSON.stringify(parseJson('{"\\"":1,"b":2,"\\u0022":3}'))).toBe('{"\\"":3,"b":2}');
  });

  it("keeps a name that an object could take for its prototype", () => {
    const value = parseJson('{"\\u005f_proto__":{"a":1},"\\"":1}') as object;
    expect(Object.keys(value)).toEqual(["__proto__", '"']);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });

  it("revives values", () => {
    const double = (_name: string, value: unknown): unknown =>
      typeof value === "number" ? 2 * value : value;
    expect(parseJson('{"\\u0061":[1],"\\"":2,"b":3}', double)).toEqual({ a: [2], '"': 4, b: 6 });
  });

  it.each([
    '{"\\u0061":1,}',
    '{"\\"":1,}',
    '{"\\"":nul}',
    '{"\\u0061": 1\n',
    '{"\\x":1}',
    '{"\\u00":1}',
    '"\\u0061":1',
    "",
    '\\"',
  ])("says of %s what JSON.parse says", (text) => {
    expect(() => parseJson(text)).toThrow(SyntaxError);
    expect(faultOf(parseJson, text)).toBe(faultOf(JSON.parse, text));
  });

  it.each(Object.entries(hostileTexts))("takes a megabyte of %s as JSON.parse", (_what, text) => {
    expect(faultOf(parseJson, text)).toBe(faultOf(JSON.parse, text));
  });
});
