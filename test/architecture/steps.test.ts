/** The pages of the steps: each step has one, and its options are those of its schema. */

import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import steps from "../../plugins/standard/src/index.ts";
import { STEP_PAGES } from "../generate/steps.ts";
import { ROOT } from "./sources.ts";

describe("the pages of the steps", () => {
  it.each(STEP_PAGES.map((page) => [page.path.slice(ROOT.length + 1), page] as const))(
    "%s is what the generator makes: run node test/generate/steps.ts",
    (_path, { path, fresh }) => {
      expect(readFileSync(path, "utf8")).toBe(fresh());
    },
  );

  it("are one for each step, and the README lists them all", () => {
    const pages = globSync("plugins/standard/docs/*.md", { cwd: ROOT }).map((path) =>
      basename(path, ".md"),
    );
    expect(pages.sort()).toEqual(steps.map(({ name }) => name).sort());
    const readme = readFileSync(join(ROOT, "plugins/standard/README.md"), "utf8");
    expect(pages.filter((name) => !readme.includes(`[\`${name}\`](docs/${name}.md)`))).toEqual([]);
  });

  it("have a row for every option, with the meaning that the schema gives", () => {
    for (const { name, config } of steps) {
      const page = readFileSync(join(ROOT, `plugins/standard/docs/${name}.md`), "utf8");
      const options = Object.entries(
        (config.properties ?? {}) as Readonly<Record<string, { readonly description: string }>>,
      );
      const missing = options.filter(
        ([option, { description }]) =>
          !page.includes(`| \`${option}\` |`) || !page.includes(description),
      );
      expect(missing.map(([option]) => `${name}.${option}`)).toEqual([]);
    }
  });
});
