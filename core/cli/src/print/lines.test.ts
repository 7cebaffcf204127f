import fc from "fast-check";
import { applyPatch, parsePatch } from "diff";
import { describe, expect, it } from "vitest";
import { lineDiff } from "./lines.ts";

describe("line diffs", () => {
  it("tell what was taken out and put in, with the lines around it", () => {
    const before = "a\nb\nc\nd\ne\nf\ng\nh\ni\n";
    expect(
      lineDiff(
        { "config/gateway.yaml": before, same: "x" },
        { "config/gateway.yaml": before.replace("e", "E"), same: "x" },
      ),
    ).toBe(
      "--- a/config/gateway.yaml\n+++ b/config/gateway.yaml\n@@ -2,7 +2,7 @@\n b\n c\n d\n-e\n+E\n f\n g\n h\n",
    );
  });

  it("tell of files that came and went", () => {
    expect(lineDiff({ b: "old\n" }, { a: "new\n" })).toBe(
      "--- /dev/null\n+++ b/a\n@@ -0,0 +1,1 @@\n+new\n--- a/b\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-old\n",
    );
  });

  it("are empty for the same, and short for two files without a line in common", () => {
    expect(lineDiff({ a: "x" }, { a: "x" })).toBe("");
    const lines = (word: string) =>
      Array.from({ length: 15_000 }, (_, line) => `${word} ${line}\n`).join("");
    expect(lineDiff({ a: lines("one") }, { a: lines("two") })).toBe(
      "--- a/a\n+++ b/a\n@@ nearly every line differs @@\n",
    );
  });

  it("lead from one to the other, whatever the two are", () => {
    const text = fc
      .array(fc.constantFrom("a", "b", "  c: d", "", "---", "@@ x"))
      .map((lines) => lines.join("\n"));
    fc.assert(
      fc.property(text, text, (before, after) => {
        fc.pre(before !== after);
        const [patch] = parsePatch(lineDiff({ file: before }, { file: after }));
        expect(patch === undefined ? undefined : applyPatch(before, patch)).toBe(after);
      }),
    );
  });
});
