/** The lists of vitest.config.ts: each names files, and no folder of tests is left to others. */

import { globSync } from "node:fs";
import { dirname } from "node:path";
import { expect, it } from "vitest";
import config from "../../vitest.config.ts";

interface Project {
  readonly name: string;
  readonly include: readonly string[];
  readonly exclude?: readonly string[];
}

const ROOT = new URL("../../", import.meta.url).pathname;
const projects = (config.test?.projects ?? []).map(
  (project) => (project as { readonly test: Project }).test,
);

const matching = (pattern: string): readonly string[] =>
  globSync(pattern, { cwd: ROOT, exclude: (name) => String(name).includes("node_modules") });

function filesOf(name: string): readonly string[] {
  const { include, exclude = [] } = projects.find((project) => project.name === name)!;
  const left = new Set(exclude.flatMap(matching));
  return include.flatMap(matching).filter((file) => !left.has(file));
}

it("each pattern names a file", () => {
  const patterns = projects.flatMap(({ include, exclude = [] }) => [...include, ...exclude]);
  expect(patterns.length).toBeGreaterThan(20);
  expect(patterns.filter((pattern) => matching(pattern).length === 0)).toEqual([]);
});

it("each file of test/system and of the packages is in one project", () => {
  const named = ["unit", "system", "further", "processes", "long"].flatMap(filesOf);
  const all = ["test/system/**/*.test.ts", "{core,plugins}/*/src/**/*.test.ts"].flatMap(matching);
  const isAsked = (file: string): boolean =>
    /^(?:test\/system|(?:core|plugins)\/[^/]+\/src)\//.test(file);
  expect(named.filter(isAsked).toSorted()).toEqual(all.toSorted());
});

it("npm test has files of each folder that has further ones", () => {
  const folders = new Set([...filesOf("unit"), ...filesOf("system")].map(dirname));
  expect(filesOf("further").filter((file) => !folders.has(dirname(file)))).toEqual([]);
});
