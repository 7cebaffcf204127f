import { describe, expect, it } from "vitest";
import { checkCommitAfter, commitAfterOf } from "./commit-after.ts";

describe("commit_after", () => {
  it("is what YAML says, in numbers", () => {
    expect(commitAfterOf({ tokens: 20, ms: "300ms", bytes: "4kb" })).toEqual({
      tokens: 20,
      ms: 300,
      bytes: 4_096,
    });
    expect(commitAfterOf({ ms: "1s" })).toEqual({ ms: 1_000 });
    expect(commitAfterOf(undefined)).toBeUndefined();
  });

  it("holds at most 256kb", () => {
    expect(checkCommitAfter(undefined)).toEqual([]);
    expect(checkCommitAfter({ bytes: "256kb" })).toEqual([]);
    expect(checkCommitAfter({ bytes: "257kb" })).toMatchObject([
      { path: ["commit_after", "bytes"], fix: "write at most 256kb" },
    ]);
  });
});
