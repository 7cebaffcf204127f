import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { kitPage, readKitPaths, unreadStatements } from "./kit-page.ts";
import { ROOT } from "./sources.ts";

/** Exports that the page of the kit may have: what an author can survey. A group counts as one. */
const MAX_EXPORTS = 80;
/** Members that a group may have. */
const MAX_MEMBERS = 12;

const PAGE = join(ROOT, "core/kit/README.md");
const BEGIN = "<!-- exports -->";
const END = "<!-- /exports -->";

const paths = readKitPaths();
const exported = paths.flatMap(({ exports }) => exports);

describe("the kit's page", () => {
  it("lists every export", () => {
    expect(unreadStatements()).toEqual([]);
    const text = readFileSync(PAGE, "utf8");
    const from = text.indexOf(BEGIN) + BEGIN.length;
    const to = text.indexOf(END);
    expect(to).toBeGreaterThan(from);
    const held = text.slice(from, to).trim();
    const page = kitPage(paths);
    // As in the contract of providers: a block that is empty is filled.
    if (held === "") writeFileSync(PAGE, `${text.slice(0, from)}\n\n${page}\n\n${text.slice(to)}`);
    expect(held).toBe(page);
  });

  it("has as many exports as an author can survey", () => {
    expect(exported.length).toBeGreaterThan(40);
    expect(exported.length).toBeLessThanOrEqual(MAX_EXPORTS);
    expect(exported.filter(({ members }) => members.length > MAX_MEMBERS).map(({ name }) => name)).toEqual([]);
  });

  it("names what the running kit exports", async () => {
    for (const { specifier, exports } of paths) {
      const values = Object.keys((await import(specifier)) as object);
      const listed = exports.map(({ name }) => name);
      expect(values.filter((name) => !listed.includes(name))).toEqual([]);
    }
  });
});
