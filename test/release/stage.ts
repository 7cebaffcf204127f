/**
 * `npm run stage`: compiles every workspace and writes its package to `build/npm/<name>`, as npm
 * publishes it. The workspaces stay as they are.
 */

import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { manifestOf, type ReleaseFacts } from "./manifest.ts";
import { planOf } from "./plan.ts";
import { readWorkspaces, ROOT, type Workspace } from "./workspaces.ts";

/** The staged packages. */
export const STAGED = join(ROOT, "build/npm");

/** A staged package. */
export interface StagedPackage {
  readonly name: string;
  readonly version: string;
  /** Absolute. */
  readonly folder: string;
}

/**
 * Compiles and writes every package. The variable `GITHUB_REPOSITORY`, which CI sets, becomes the
 * repository's address. Throws when a source does not compile.
 */
export function stagePackages(): readonly StagedPackage[] {
  const workspaces = readWorkspaces();
  const compiled = workspaces.filter(
    ({ manifest }) => manifest.exports !== undefined || manifest.bin !== undefined,
  );
  execFileSync("npx", ["tsc", "-b", ...compiled.map(({ folder }) => folder)], {
    cwd: ROOT,
    stdio: "inherit",
  });
  execFileSync(process.execPath, ["core/dashboard/build.ts", "--force", "--check"], {
    cwd: ROOT,
    stdio: "inherit",
  });
  rmSync(STAGED, { recursive: true, force: true });
  const facts = releaseFacts();
  return workspaces.map((workspace) => stage(workspace, facts));
}

function releaseFacts(): ReleaseFacts {
  const { optionalDependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
    readonly optionalDependencies: Readonly<Record<string, string>>;
  };
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: name } = process.env;
  return {
    packagedNode: optionalDependencies,
    repository:
      name === undefined ? undefined : `git+${server ?? "https://github.com"}/${name}.git`,
  };
}

function stage(workspace: Workspace, facts: ReleaseFacts): StagedPackage {
  const { name, version } = workspace.manifest;
  const folder = join(STAGED, name);
  for (const [path, source] of planOf(workspace)) {
    const target = join(folder, path);
    mkdirSync(dirname(target), { recursive: true });
    if (source !== undefined) copy(join(ROOT, source), target);
    else if (path === "package.json")
      writeFileSync(target, `${JSON.stringify(manifestOf(workspace, facts), null, 2)}\n`);
    else writeFileSync(target, `# ${name}\n\n## ${version}\n\nThe first published version.\n`);
  }
  return { name, version, folder };
}

/** Declarations name each other by the files that are there: `.ts` becomes `.js`. */
function copy(from: string, to: string): void {
  if (!to.endsWith(".d.ts")) {
    copyFileSync(from, to);
    return;
  }
  const text = readFileSync(from, "utf8");
  writeFileSync(
    to,
    text.replaceAll(/((?:from|import)\s*\(?\s*["']\.[^"']*)\.ts(["'])/g, "$1.js$2"),
    {
      mode: statSync(from).mode,
    },
  );
}

if (import.meta.main) {
  const staged = stagePackages();
  console.log(`${staged.length} packages are in ${STAGED}`);
}
