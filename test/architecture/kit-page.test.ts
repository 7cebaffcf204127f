/** The page of the kit: it lists every export, and as many as an author can survey. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { freshKitPage, readKitPaths, unreadStatements } from "../generate/kit.ts";
import { ROOT } from "./sources.ts";

/** Exports that the page may have. A group counts as one. */
const MAX_EXPORTS = 84;
/** Members that a group may have. */
const MAX_MEMBERS = 12;

const paths = readKitPaths();
const exported = paths.flatMap(({ exports }) => exports);

describe("the kit's page", () => {
  it("is what the generator makes: run node test/generate/kit.ts", () => {
    expect(unreadStatements()).toEqual([]);
    expect(readFileSync(join(ROOT, "core/kit/README.md"), "utf8")).toBe(freshKitPage());
  });

  it("has as many exports as an author can survey", () => {
    expect(exported.length).toBeGreaterThan(40);
    expect(exported.length).toBeLessThanOrEqual(MAX_EXPORTS);
    expect(
      exported.filter(({ members }) => members.length > MAX_MEMBERS).map(({ name }) => name),
    ).toEqual([]);
  });

  it("names what the running kit exports", async () => {
    for (const { specifier, exports } of paths) {
      const values = Object.keys((await import(specifier)) as object);
      const listed = exports.map(({ name }) => name);
      expect(values.filter((name) => !listed.includes(name))).toEqual([]);
    }
  });
});
