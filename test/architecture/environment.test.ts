import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { ENVIRONMENT_PAGE, environmentPage, INTERNAL, VARIABLES } from "../generate/environment.ts";
import { readSources } from "./sources.ts";

/** Names in examples of references, and in tests of packages. */
const EXAMPLES = ["SLUICE_READ_KEY", "SLUICE_PREVIOUS_MASTER_KEY", "SLUICE_TEST_HOST"];

describe("the page of environment variables", () => {
  it("is what the generator makes: run node test/generate/environment.ts", () => {
    expect(readFileSync(ENVIRONMENT_PAGE, "utf8")).toBe(environmentPage());
  });

  it("has every variable of the sources, and none that no source reads", () => {
    const command = readFileSync(new URL("../../core/cli/bin/sluice.js", import.meta.url), "utf8");
    const texts = readSources()
      .filter(({ path }) => /(?:^|\/)src\//.test(path) && !/\.(?:test|fixture)\.ts$/.test(path))
      .map(({ text }) => text);
    const named = new Set([command, ...texts].join("\n").match(/\bSLUICE_[A-Z_]+\b/g));
    const known = [...Object.keys(VARIABLES), ...INTERNAL];
    expect([...named].filter((name) => !EXAMPLES.includes(name)).toSorted()).toEqual(
      known.toSorted(),
    );
  });

  it("has every variable that is read under its name", () => {
    const read = readSources()
      .filter(({ path }) => /(?:^|\/)src\//.test(path) && !/\.(?:test|fixture)\.ts$/.test(path))
      .flatMap(({ text }) => [
        ...text.matchAll(/\b(?:process\.env|environment)(?:\.|\[")([A-Z][A-Z_]+)\b/g),
      ])
      .map(([, name = ""]) => name);
    const known = [...Object.keys(VARIABLES), ...INTERNAL];
    expect(read.length).toBeGreaterThan(3);
    expect(read.filter((name) => !known.includes(name))).toEqual([]);
  });
});
