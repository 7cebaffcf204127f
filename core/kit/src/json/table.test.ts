import { describe, expect, it } from "vitest";
import { bodyTexts } from "../guard/document/texts.ts";
import { table } from "./table.ts";

describe("a table", () => {
  it("has its rows and nothing else", () => {
    const words = table({ stop: 1 });
    expect(words.stop).toBe(1);
    for (const word of ["constructor", "toString", "__proto__"])
      expect(words[word]).toBeUndefined();
  });

  it("tells the part of a text under a name that every object has", () => {
    const content = [{ type: "text", text: "a", constructor: "b" }];
    const body = JSON.parse(
      JSON.stringify({ messages: [{ role: "toString", content }], toString: "c" }),
    ) as never;
    expect(bodyTexts(body, "chat").texts.map(({ text, part }) => [text, part])).toEqual([
      ["toString", "parameters"],
      ["toString", "user"],
      ["constructor", "user"],
      ["a", "user"],
      ["b", "user"],
      ["c", "parameters"],
    ]);
  });
});
