/**
 * Which files a published package has, and where in the checkout each comes from. `package.json` is
 * written: manifest.ts.
 */

import { existsSync, globSync, statSync } from "node:fs";
import { join } from "node:path";
import { VENDORED } from "./vendored.ts";
import { readWorkspaces, ROOT, type Workspace } from "./workspaces.ts";

/** Sources by their paths in the package. `undefined`: written by the staging. */
export type Plan = ReadonlyMap<string, string | undefined>;

/** Sources of tests, and what only tests import. */
const TEST_SOURCE = /\.(?:test|fixture|bench)\.ts$|\/accounting\/testing\//;

/** Folders of a workspace that are published as they are. */
const FOLDERS: readonly string[] = ["bin", "docs", "templates"];
/**
 * Files in them that serve the checkout alone: what a build left, and the types of the templates.
 */
const LEFT_OUT = /(?:^|\/)(?:node_modules|dist)\/|\.tsbuildinfo$|^templates\/tsconfig\.json$/;

/** Files of the checkout that a package has besides those of its workspace. */
const FROM_ROOT: Readonly<Record<string, readonly string[]>> = {
  // The configuration of a start without a gateway file, the shipped pipelines, editors' schemas.
  "core/engine": ["config/*.yaml", "config/schema/*.json", "pipelines/*.yaml"],
};

/** Folders that a build of their own makes. Their files are named by their contents. */
const BUILT: Readonly<Record<string, string>> = { "core/dashboard": "dist/ui" };
/** Sources of a workspace that are compiled to modules. Default: all. */
const MODULES: Readonly<Record<string, string>> = { "core/dashboard": "src/index.ts" };

/** What a module is compiled to. */
export const OUTPUTS: readonly string[] = [".js", ".js.map", ".d.ts"];

/**
 * The files of the package of a workspace. Reads names and no contents: nothing has to be built.
 */
export function planOf({ folder }: Workspace): Plan {
  const at = (path: string): string => `${folder}/${path}`;
  const plan = new Map<string, string | undefined>([["package.json", undefined]]);
  for (const path of filesIn(MODULES[folder] ?? "src/**/*.ts", at(""))) {
    if (TEST_SOURCE.test(path)) continue;
    for (const output of OUTPUTS) {
      const compiled = path.replace(/^src\//, "dist/").replace(/\.ts$/, output);
      plan.set(compiled, at(compiled));
    }
  }
  for (const name of FOLDERS)
    for (const path of filesIn(`${name}/**/*`, at("")))
      if (!LEFT_OUT.test(path))
        plan.set(name === "templates" ? `${path}.template` : path, at(path));
  for (const pattern of FROM_ROOT[folder] ?? [])
    for (const path of filesIn(pattern, "")) plan.set(path, path);
  for (const { files } of VENDORED[folder] ?? [])
    for (const [path, source] of Object.entries(files)) plan.set(path, source);
  const built = BUILT[folder];
  if (built !== undefined)
    for (const path of filesIn(`${built}/**/*`, at(""))) plan.set(path, at(path));
  plan.set("README.md", at("README.md"));
  plan.set("LICENSE", "LICENSE");
  const changelog = at("CHANGELOG.md");
  plan.set("CHANGELOG.md", existsSync(join(ROOT, changelog)) ? changelog : undefined);
  return plan;
}

/** The files of a plan as text: modules by their folder, every other file by its path. */
export function listingOf(plan: Plan): readonly string[] {
  const listed = new Set<string>();
  for (const path of plan.keys()) {
    if (Object.values(BUILT).some((folder) => path.startsWith(`${folder}/`))) continue;
    const output = OUTPUTS.toReversed().find((end) => path.endsWith(end));
    const isModule = path.startsWith("dist/") && output !== undefined;
    listed.add(isModule ? `${path.slice(0, path.lastIndexOf("/"))}/*${output}` : path);
  }
  return [...listed].sort();
}

function builtIn({ folder }: Workspace): readonly string[] {
  const built = BUILT[folder];
  return built === undefined ? [] : [`${built}/*`];
}

function filesIn(pattern: string, folder: string): readonly string[] {
  const cwd = join(ROOT, folder);
  return globSync(pattern, { cwd })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => statSync(join(cwd, path)).isFile())
    .sort();
}

/** The lists of all packages, as the file `published-files.txt` beside this one has them. */
export function publishedFiles(): string {
  return readWorkspaces()
    .map((workspace) =>
      [
        workspace.manifest.name,
        ...[...listingOf(planOf(workspace)), ...builtIn(workspace)].map((line) => `  ${line}`),
        "",
      ].join("\n"),
    )
    .join("\n");
}
