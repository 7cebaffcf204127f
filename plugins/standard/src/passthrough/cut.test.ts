import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cutMembers } from "./cut.ts";

const cut = (text: string, ...names: string[]): string =>
  Buffer.from(cutMembers(Buffer.from(text), names)).toString();

describe("cutMembers", () => {
  it.each([
    ['{"a":1,"b":2,"c":3}', ["b"], '{"a":1,"c":3}'],
    ['{"a":1,"b":2,"c":3}', ["a"], '{"b":2,"c":3}'],
    ['{"a":1, "b":2 , "c":3 }', ["c"], '{"a":1, "b":2 }'],
    ['{"a":1,"b":2,"c":3}', ["b", "c"], '{"a":1}'],
    ['{"a":1,"b":2}', ["a", "b"], "{}"],
    ['{ "a" : 1 }', ["a"], "{  }"],
    ['{"a":1}', ["x"], '{"a":1}'],
    [
      '{"n":12345678901234567890,"tags":["a","b"],"m":{"tags":1}}',
      ["tags"],
      '{"n":12345678901234567890,"m":{"tags":1}}',
    ],
  ])("%s without %j is %s", (text, names, expected) => {
    expect(cut(text, ...names)).toBe(expected);
  });

  it("leaves what JSON.parse reads of every other member, whatever is cut", () => {
    const names = ["a", "b", "c", "d", "e"];
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.constantFrom(...names)),
        fc.subarray(names),
        fc.constantFrom("", " ", "\n"),
        (has, gone, space) => {
          const text = `{${has.map((name) => `${space}"${name}"${space}:${space}[1,",}"]${space}`).join(",")}}`;
          const kept = has.filter((name) => !gone.includes(name));
          expect(Object.keys(JSON.parse(cut(text, ...gone)) as object)).toEqual(kept);
        },
      ),
    );
  });
});
