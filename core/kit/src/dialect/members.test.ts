import { describe, expect, it } from "vitest";
import { parseJson } from "../json/parse.ts";
import { present } from "./members.ts";

describe("the members that are present", () => {
  it("are those with a value, null included, in their order", () => {
    const found = present({ b: 1, a: undefined, c: null });
    expect(Object.entries(found)).toEqual([
      ["b", 1],
      ["c", null],
    ]);
  });

  it("have any name", () => {
    const found = present(parseJson('{"__proto__":{"model":"other"},"a":1}') as object);
    expect(Object.keys(found)).toEqual(["__proto__", "a"]);
    expect(found).not.toHaveProperty("model");
  });
});
