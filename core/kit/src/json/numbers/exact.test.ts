import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { amount } from "@sluice/testing";
import type { JsonObject, JsonValue } from "@sluice/contract";
import { hostileTexts, objectText } from "../json-text.fixture.ts";
import { parseJson } from "../parse.ts";
import { writtenPieces } from "../sliced/write.ts";
import { ExactValues, parseExact } from "./exact.ts";
import { rawNumber } from "./raw.ts";

const digits = (maxLength: number): fc.Arbitrary<string> =>
  fc
    .array(fc.constantFrom(..."00123456789"), { minLength: 1, maxLength })
    .map((each) => each.join(""));

/** Texts of numbers: long, short, and near the bounds of a double. */
const number = fc.oneof(
  fc
    .tuple(
      fc.constantFrom("", "-"),
      digits(25).map((each) => each.replace(/^0+(?=\d)/, "")),
      fc.option(digits(25), { nil: undefined }),
      fc.option(
        fc.tuple(
          fc.constantFrom("e", "E", "e+", "e-", "E-"),
          fc.oneof(fc.nat(30), fc.constantFrom(308, 324, 400)),
        ),
        { nil: undefined },
      ),
    )
    .map(
      ([sign, whole, fraction, power]) =>
        `${sign}${whole}${fraction === undefined ? "" : `.${fraction}`}${power?.join("") ?? ""}`,
    ),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.constantFrom("-0", "-0.0", "0", "9007199254740993", "1e400", "5e-324", "1e-400", "1.0"),
);

/** The value of a number's text, as a whole number of 10 ** -1000. */
function exactly(text: string): string {
  const [, sign, whole = "", fraction = "", power = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE](.+))?$/.exec(text) ?? [];
  const places = 1_000 + Number(power) - fraction.length;
  return `${sign}${BigInt(whole + fraction) * 10n ** BigInt(places)}`;
}

/** A fraction that a double rounds to an integer may be lost. */
function expectedOf(text: string): string {
  const double = Number(text);
  const isSure = Number.isInteger(double) && double !== 0 && Math.abs(double) < 2 ** 44;
  return isSure ? String(double) : exactly(text);
}

const places = fc.constantFrom<(text: string) => string>(
  (text) => `{"a":${text}}`,
  (text) => `{"a":[ ${text} ]}`,
  (text) => `[1,${text},2]`,
  (text) => `{"a" : {"\\u0061":[[${text}\n]]}}`,
  (text) => text,
);

const writtenNumber = (text: string): string =>
  /-?\d[-+.\deE]*/.exec(text.replaceAll(/"[^"]*"|\[1,/g, ""))?.[0] ?? "";

describe("parseExact", () => {
  it("reads numbers that are written with the value of the text", () => {
    fc.assert(
      fc.property(number, places, (text, place) => {
        const written = JSON.stringify(parseExact(place(text)));
        expect(expectedOf(writtenNumber(written))).toBe(expectedOf(text));
        expect(written).toBe(JSON.stringify(parseJson(place(writtenNumber(written)), raw)));
      }),
      { numRuns: amount(500, 10_000) },
    );
  });

  it("reads every other text as parseJson reads it", () => {
    fc.assert(
      fc.property(objectText, (text) => {
        expect(parseJson(JSON.stringify(parseExact(text)))).toEqual(parseJson(text));
      }),
    );
    expect(parseExact('{"x":1.50,"y":1e3,"z":123456789012345,"n":0.1}')).toEqual({
      x: 1.5,
      y: 1000,
      z: 123456789012345,
      n: 0.1,
    });
  });

  it("keeps names with escapes, and names of prototypes", () => {
    const text = '{"__proto__":{"a":1234567890123456789},"\\"":-0,"\\u0061":[1e400]}';
    expect(JSON.stringify(parseExact(text))).toBe(
      '{"__proto__":{"a":1234567890123456789},"\\"":-0,"a":[1e400]}',
    );
  });

  it.each(Object.entries(hostileTexts))("takes linear time: %s", (_what, text) => {
    const said = (parse: (text: string) => unknown): string => {
      try {
        parse(text);
        return "";
      } catch (error) {
        return String(error);
      }
    };
    expect(said(parseExact)).toBe(said(parseJson));
  });

  it("reads a number of a megabyte", () => {
    const long = `-0.${"0".repeat(500_000)}${"1".repeat(500_000)}`;
    const value = parseExact(`{"a":[${long}]}`) as JsonObject;
    expect(JSON.stringify(value) === `{"a":[${long}]}`).toBe(true);
    expect([...writtenPieces({ b: value })].join("") === `{"b":{"a":[${long}]}}`).toBe(true);
  });
});

function raw(_name: string, value: unknown, context?: { readonly source?: string }): unknown {
  return typeof value === "number" ? rawNumber(context?.source ?? "") : value;
}

describe("exact values", () => {
  const text = '{"content":[1e400,{"input":{"id":1234567890123456789}},{"input":{"id":7}}]}';
  const value = parseJson(text) as { readonly content: readonly JsonValue[] } & JsonObject;
  const [, first, second] = value.content as [unknown, JsonObject, JsonObject];

  it.each([
    ["a text", text],
    ["bytes", Buffer.from(`\ufeff${text}`)],
  ])("are those of %s", (_what, bytes) => {
    const exact = new ExactValues({ value, bytes });
    expect(JSON.stringify(exact.of(first))).toBe('{"input":{"id":1234567890123456789}}');
    expect(exact.of(second)).toBe(second);
  });

  it("are read in stages from a large text", () => {
    const large = `{"fill":"${"ä, 12".repeat(100_000)}",${text.slice(1)}`;
    const read = parseJson(large) as typeof value;
    for (const bytes of [large, Buffer.from(`\ufeff${large}`), Buffer.from(large)]) {
      const exact = new ExactValues({ value: read, bytes });
      expect([...exact.prepare(read.content[2])]).toEqual([]);
      expect([...exact.prepare(read.content[1])].length).toBeGreaterThan(0);
      expect([...exact.prepare(read.content[1])]).toEqual([]);
      expect(JSON.stringify(exact.of(read))).toBe(large);
    }
  });

  it("are the same objects where nothing differs, and need no text", () => {
    const unread = {
      value,
      get bytes(): never {
        throw new Error("no value asks for the text");
      },
    };
    expect(new ExactValues(unread).of(second)).toBe(second);
    const plain = { input: { at: 0, share: 0.5 } };
    const same = new ExactValues({ value: plain, bytes: JSON.stringify(plain) });
    expect(same.of(plain)).toBe(plain);
  });
});
