import { describe, expect, it } from "vitest";
import { longestMatch } from "./pattern-length.ts";

describe("the longest match of a pattern", () => {
  it.each([
    ["abc", 3],
    ["a|bcd|ef", 3],
    ["project-[a-z]{3,20}", 48],
    ["(?:ab){2}c?", 5],
    ["(?P<name>a)(?<other>b)", 2],
    ["(?i)a", 1],
    [String.raw`\bsecret\b`, 6],
    ["^a$", 1],
    [String.raw`\d{4}-\w\s`, 7],
    [".", 2],
    [String.raw`\p{Greek}\pL\x{1F600}\x41`, 8],
    [String.raw`[\]a][]b][[:alpha:]x]`, 6],
    [String.raw`\.\(\)`, 6],
    ["a{0}b", 1],
    ["a{2}{3}", 6],
    ["a*", Infinity],
    ["(ab+)?", Infinity],
    ["a{2,}", Infinity],
    [String.raw`\Qa.b\E`, Infinity],
    ["(?=a)", Infinity],
    ["(a", Infinity],
    ["a)", Infinity],
    ["[a", Infinity],
    ["(?:)*", 0],
  ])("%s", (pattern, length) => {
    expect(longestMatch(pattern)).toBe(length);
  });
});
