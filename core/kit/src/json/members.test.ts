import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { amount } from "@sluice/testing";
import { hostileTexts, objectText } from "./json-text.fixture.ts";
import { findMember, findPath, readMembers } from "./members.ts";
import { parseJson } from "./parse.ts";

/**
 * Far from what a linear walk takes (some 10 ms), and far from what a quadratic one would
 * (minutes).
 */
const MAX_MS = 10_000;

function values(text: string): (readonly [string, string])[] {
  return readMembers(text).members.map(
    ({ key, valueStart, end }) => [key, text.slice(valueStart, end)] as const,
  );
}

describe("readMembers", () => {
  it.each([
    ["{}", []],
    [" { } ", []],
    ['{"a":1}', [["a", "1"]]],
    [
      '{ "a" : [1, {"b": "]"}] , "c":null }',
      [
        ["a", '[1, {"b": "]"}]'],
        ["c", "null"],
      ],
    ],
    ['{"a\\"b":"x\\\\"}', [['a"b', '"x\\\\"']]],
    ['{"\\u0061":12345678901234567890}', [["a", "12345678901234567890"]]],
    [
      '{"a":1,"a":2}',
      [
        ["a", "1"],
        ["a", "2"],
      ],
    ],
    ['{"":{"}":"{"}}', [["", '{"}":"{"}']]],
    ["[1,2]", []],
    ["", []],
    ["null", []],
  ])("reads %s", (text, expected) => {
    expect(values(text)).toEqual(expected);
  });

  it("finds the members that JSON.parse finds, each with its own text", () => {
    fc.assert(
      fc.property(objectText, (text) => {
        const parsed = parseJson(text) as Record<string, unknown>;
        const found = new Map(values(text));
        expect([...found.keys()].sort()).toEqual(Object.keys(parsed).sort());
        for (const [key, slice] of found)
          expect(parseJson(slice)).toEqual(Object.getOwnPropertyDescriptor(parsed, key)?.value);
      }),
      { numRuns: amount(100, 500) },
    );
  });

  it("ends on any text, JSON or not", () => {
    const piece = fc.constantFrom('"', "\\", "{", "}", "[", "]", ",", ":", " ", "a", "1");
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        const text = `{${pieces.join("")}`;
        const starts = readMembers(text).members.map(({ start }) => start);
        expect(starts).toEqual([...new Set(starts)].sort((a, b) => a - b));
        expect(starts.every((start) => text[start] === '"')).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  it.each(Object.entries(hostileTexts))("takes linear time on %s", (_name, text) => {
    const started = performance.now();
    readMembers(text);
    findMember(text, "not there");
    expect(performance.now() - started).toBeLessThan(MAX_MS);
  });
});

describe("limits of the shape", () => {
  const limits = { maxDepth: 4, maxNodes: 10 };
  const nested = (levels: number): string =>
    `{"a":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;

  it("counts the outer object as the first level", () => {
    expect(readMembers(nested(3), limits).fault).toBeUndefined();
    expect(readMembers(nested(4), { ...limits, maxDepth: 4 }).fault).toBeUndefined();
    expect(readMembers(nested(5), limits).fault).toBe("depth");
  });

  it("refuses too many values inside a member", () => {
    expect(readMembers(`{"a":[${"1,".repeat(9)}1]}`, limits).fault).toBeUndefined();
    expect(readMembers(`{"a":[${"1,".repeat(20)}1]}`, limits).fault).toBe("nodes");
    expect(readMembers(`{"a":[${"[],".repeat(20)}1]}`, limits).fault).toBe("nodes");
  });

  it("refuses too many values spread over members", () => {
    const members = Array.from({ length: 12 }, (_, index) => `"m${index}":[1,2]`);
    expect(readMembers(`{${members.join(",")}}`, limits).fault).toBe("nodes");
  });

  it("refuses too many members", () => {
    const members = Array.from({ length: 12 }, (_, index) => `"m${index}":1`);
    expect(readMembers(`{${members.join(",")}}`, limits).fault).toBe("nodes");
    expect(readMembers(`{${members.slice(0, 8).join(",")}}`, limits).fault).toBeUndefined();
  });

  it("does not count what stands in a string", () => {
    expect(readMembers(`{"a":"${"[,".repeat(50)}"}`, limits).fault).toBeUndefined();
  });
});

describe("findMember", () => {
  it("returns the first member of a name and reads no further", () => {
    const text = '{"a":1,"model":"x","model":"y",broken';
    const member = findMember(text, "model");
    expect(text.slice(member?.valueStart, member?.end)).toBe('"x"');
  });

  it("looks at top-level members only", () => {
    expect(findMember('{"a":{"model":"x"},"b":"\\"model\\":1"}', "model")).toBeUndefined();
  });
});

describe("findPath", () => {
  it("finds the first member of each name on its way", () => {
    const text = ' {"x":"{","a":{"b":[{"c":0}],"c":1,"c":2},"a":3, "b":4}';
    const found = (path: readonly string[]): string | undefined => {
      const member = findPath(text, path);
      return member && text.slice(member.start, member.end);
    };
    expect(found(["a", "c"])).toBe('"c":1');
    expect(found(["b"])).toBe('"b":4');
    expect([["a", "b", "c"], ["x", "a"], ["a", "d"], ["d", "a"], []].map(found)).toEqual(
      Array.from({ length: 5 }),
    );
  });

  it("finds within an object what is found in its text alone", () => {
    const outer = fc.constantFrom("model", "seed", "a", "", "b");
    fc.assert(
      fc.property(objectText, objectText, outer, (first, second, name) => {
        const text = `{"o":${first},"model":${second},"a":"}"}`;
        const inner = findMember(second, name);
        const at = text.indexOf(second, first.length);
        const shifted = inner && {
          ...inner,
          start: inner.start + at,
          valueStart: inner.valueStart + at,
          end: inner.end + at,
        };
        expect(findPath(text, ["model", name])).toEqual(shifted);
      }),
      { numRuns: amount(100, 500) },
    );
  });
});
