import { describe, expect, it } from "vitest";
import { readSources } from "./sources.ts";

const CALL = /\blog\.(?:debug|info|warn|error)\(/gi;
/** A property name before its colon, or a shorthand property. */
const FIELD = /[{,]\s*([A-Za-z_]\w*)\s*(?=[:,}])/g;

/** The text between the parenthesis before `start` and its partner. */
function callText(text: string, start: number): string {
  let depth = 1;
  let end = start;
  for (; depth > 0 && end < text.length; end += 1) {
    if ("([{".includes(text[end] ?? "")) depth += 1;
    else if (")]}".includes(text[end] ?? "")) depth -= 1;
  }
  return text.slice(start, end - 1);
}

/** Names of fields with a capital letter, by call. */
function mixedCase(text: string): readonly string[] {
  return [...text.matchAll(CALL)].flatMap((call) =>
    [...callText(text, call.index + call[0].length).matchAll(FIELD)]
      .map(([, name]) => name ?? "")
      .filter((name) => /[A-Z]/.test(name)),
  );
}

describe("the fields of log lines", () => {
  it("are found in one line and in several, with a colon and without", () => {
    expect(
      mixedCase('log.info("a", { oneMs: 1, two_ms: 2 });\nthis.#log.warn("b", {\n  threeMs,\n});'),
    ).toEqual(["oneMs", "threeMs"]);
  });

  it("are snake_case in every source", () => {
    const found = readSources().flatMap(({ path, text }) =>
      mixedCase(text).map((name) => `${path}: ${name}`),
    );
    expect(found).toEqual([]);
  });
});
