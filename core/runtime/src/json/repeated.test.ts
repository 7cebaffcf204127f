import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonValue } from "@sluice/contract";
import { hasRepeatedMembers } from "./repeated.ts";

describe("repeated members", () => {
  it.each([
    ['{"a":1,"a":2}', true],
    ['[{"b":{"a":1,"\\u0061":2}}]', true],
    ['{"a":":","b":"\\"a\\":1"}', false],
    ['{"a":"\\\\","b":{"a":[]}}', false],
    ["[]", false],
  ])("are found in %s: %s", (text, isRepeated) => {
    expect(hasRepeatedMembers(text, JSON.parse(text) as JsonValue)).toBe(isRepeated);
  });

  it("are in no text that was written from a value", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        expect(hasRepeatedMembers(text, JSON.parse(text) as JsonValue)).toBe(false);
      }),
    );
  });
});
