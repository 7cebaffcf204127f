import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mapId, mapNames, type NameRule } from "./names.ts";

const RULE: NameRule = { character: /[a-zA-Z0-9_-]/, maxLength: 20, first: /[a-zA-Z_]/ };

describe("mapped names", () => {
  it("are allowed, apart, and lead back, whatever the names are", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ minLength: 1, maxLength: 60 })), (names) => {
        const map = mapNames(names, RULE);
        const there = new Set(names.map((name) => map.toUpstream(name)));
        expect(there.size).toBe(new Set(names).size);
        for (const name of names) {
          expect(map.toUpstream(name)).toMatch(/^[a-zA-Z_][a-zA-Z0-9_-]{0,19}$/);
          expect(map.toClient(map.toUpstream(name))).toBe(name);
        }
      }),
    );
  });

  it("stay as they are where they are allowed, and never meet a mapped one", () => {
    const odd = mapNames(["a.b"], RULE).toUpstream("a.b");
    const map = mapNames(["a.b", odd, "plain"], RULE);
    expect(map.toUpstream("plain")).toBe("plain");
    expect(map.toUpstream(odd)).toBe(odd);
    expect(map.toUpstream("a.b")).not.toBe(odd);
    expect(map.toClient("never_seen")).toBe("never_seen");
  });
});

describe("a mapped id", () => {
  it("has the exact length where one is asked for, and is always the same", () => {
    const nine = { character: /[a-zA-Z0-9]/, maxLength: 9, exactLength: true };
    expect(mapId("call_abc", nine)).toMatch(/^[a-z0-9]{9}$/);
    expect(mapId("call_abc", nine)).toBe(mapId("call_abc", nine));
    expect(mapId("abcDEF123", nine)).toBe("abcDEF123");
    expect(mapId("call:1", RULE)).toMatch(/^call_1_[0-9a-f]{8}$/);
  });
});
