import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT } from "./sources.ts";

/** Words that CONTRIBUTING.md replaces: they hide the actor, or stand for a term of the field. */
const WORDS =
  "nobody|whoever|whomever|somebody|anybody|everybody|told|rubbish|hitherto|thereof|" +
  "crew|bury|buries|buried|hire|hired|stranger|judging|stands still|went back";
const WORD = new RegExp(`\\b(?:${WORDS})\\b`, "gi");

/**
 * The word list and the changes name the words that they replace; phrases of attackers are data.
 */
const EXEMPT = [
  "CONTRIBUTING.md",
  "CHANGELOG.md",
  "plugins/guardrail-injection/src/phrases.ts",
  "test/architecture/words.test.ts",
];

const tracked = execFileSync(
  "git",
  ["ls-files", "core", "plugins", "docs", "examples", "config", "pipelines", "test", "*.md"],
  {
    cwd: ROOT,
    encoding: "utf8",
  },
);
const files = tracked
  .split("\n")
  .filter((path) => /\.(?:tsx?|js|css|md|ya?ml)$/.test(path))
  .filter((path) => !path.includes("/fixtures/") && !EXEMPT.includes(path));

describe("the words of sources, tests and documents", () => {
  it("are found at all", () => {
    expect(files.length).toBeGreaterThan(1_000);
    expect("Nobody was told.".match(WORD)).toEqual(["Nobody", "told"]);
  });

  it("leave out those that CONTRIBUTING.md replaces", () => {
    const found = files.flatMap((path) =>
      readFileSync(join(ROOT, path), "utf8")
        .split("\n")
        .flatMap((line, index) =>
          [...line.matchAll(WORD)].map(([word]) => `${path}:${index + 1}: ${word}`),
        ),
    );
    expect(found).toEqual([]);
  });
});
