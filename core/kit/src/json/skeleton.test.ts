import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hostileTexts, objectText } from "./json-text.fixture.ts";
import { parseJson } from "./parse.ts";
import { Skeleton } from "./skeleton.ts";

const MAX_MS = 10_000;
const changed = (text: string): string =>
  Buffer.concat(new Skeleton(Buffer.from(text), "v").with("model", '"Ä"')).toString();
const skeletonOf = (text: string): string => new Skeleton(Buffer.from(text), "v").text;

describe("a skeleton", () => {
  it.each([
    ['{"v":[1,-2.5e-3, 4]}', '{"v":[]}'],
    ['{"a":"v","v":"AAAA"}', '{"a":"v","v":""}'],
    ['{ "v" : [ 1 ]\n}', '{ "v" : []\n}'],
    ['{"x":[{"v":[1]},{"v":[2]}],"w":[3]}', '{"x":[{"v":[]},{"v":[]}],"w":[3]}'],
    ['{"v":"a\\"b","w":"\\\\"}', '{"v":"","w":"\\\\"}'],
    ['{"a":"\\"v\\":[1]","v":[1]}', '{"a":"\\"v\\":[1]","v":[]}'],
  ])("of %s is %s", (text, expected) => {
    expect(skeletonOf(text)).toBe(expected);
  });

  it("hands out what was cut, in its order", () => {
    const { values } = new Skeleton(Buffer.from('{"x":[{"v":[1, 2]},{"v":"AAAA"}],"v":null}'), "v");
    expect(values.map(String)).toEqual(["[1, 2]", '"AAAA"']);
  });

  it.each([
    '{"v":[]}',
    '{"v":""}',
    '{"v":null}',
    '{"v":7}',
    '{"v":{"a":[1]}}',
    '{"v":[[1],[2]]}',
    '{"v":[1,null]}',
    '{"w":"v"}',
    '{"v":[1,"2"]}',
    "",
  ])("leaves %s whole", (text) => {
    expect(skeletonOf(text)).toBe(text);
  });

  it.each([
    '{"v":[1,2',
    '{"v":[1,]}',
    '{"v":"abc',
    '{"v":"abc\\"',
    '{"v"',
    '{"v":',
    '{"v":[1}',
    '{"v":[1]',
    '{"v":"a"',
  ])("of %s is still no JSON", (text) => {
    expect(() => parseJson(skeletonOf(text)) as unknown).toThrow(SyntaxError);
  });

  it("holds what the whole text holds, whatever stands around", () => {
    const withVector = fc.tuple(
      objectText,
      fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), { minLength: 1 }),
    );
    fc.assert(
      fc.property(withVector, ([text, vector]) => {
        const whole = `{"a":${text},"v":${JSON.stringify(vector)},"ü":${text}}`;
        const parsed = parseJson(whole) as { a: unknown };
        expect(parseJson(skeletonOf(whole))).toEqual({ ...parsed, v: [] });
      }),
    );
  });

  it("cuts numbers alone, wherever in memory they stand", () => {
    const number = fc
      .double({ noNaN: true, noDefaultInfinity: true })
      .map((value) => JSON.stringify(value));
    const foreign = fc.constantFrom(
      "null",
      "NaN",
      "-Infinity",
      "[1]",
      "{}",
      '""',
      "true",
      "0x1f",
      "\u00e9",
    );
    fc.assert(
      fc.property(
        fc.array(number),
        fc.option(foreign),
        fc.array(number),
        fc.nat(7),
        (before, odd, after, shift) => {
          const vector = [...before, ...(odd === null ? [] : [odd]), ...after].join(",");
          const text = (contents: string) => `{"${"x".repeat(shift)}":0,"v":[${contents}]}`;
          expect(skeletonOf(text(vector))).toBe(text(odd === null ? "" : vector));
        },
      ),
      { numRuns: 500 },
    );
  });

  it("leaves out a byte order mark", () => {
    const skeleton = new Skeleton(Buffer.from('\uFEFF{"v":[1]}'), "v");
    expect(skeleton.text).toBe('{"v":[]}');
    expect(skeleton.bytes.toString()).toBe('{"v":[1]}');
  });

  it("sets one member and keeps every other byte, wherever vectors and wide characters stand", () => {
    const member = fc.oneof(
      fc.constant('"v":[1.50,2e0]'),
      fc.constant('"v":"QUJD"'),
      fc.constant('"ü👋":"ö"'),
      fc.constant('"n": 12345678901234567890'),
    );
    fc.assert(
      fc.property(fc.array(member, { minLength: 1 }), fc.array(member), (before, after) => {
        const text = (model: string) =>
          `{ ${[...before, `"model" : ${model}`, ...after].join(" ,")}}`;
        expect(changed(text('"x"'))).toBe(text('"Ä"'));
        const none = `{ ${before.join(",")}}`;
        expect(changed(none)).toBe(`{"model":"Ä", ${before.join(",")}}`);
      }),
    );
  });

  it.each([
    ...Object.entries(hostileTexts),
    ["vectors without an end", `{"v":${'[1,"v":'.repeat(140_000)}`],
    ["strings without an end", `{${'"v":"\\"'.repeat(140_000)}`],
    ["escapes before quotes", `{"v":"${'\\\\\\"'.repeat(250_000)}"}`],
  ])("takes linear time on %s", (_name, text) => {
    const started = performance.now();
    expect(skeletonOf(text).length).toBeLessThanOrEqual(text.length);
    expect(performance.now() - started).toBeLessThan(MAX_MS);
  });
});
