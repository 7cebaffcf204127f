/** What a build may weigh. Each number is bytes after gzip, unless it says otherwise. */

import { globSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { DashboardFile } from "./src/index.ts";

const KB = 1_024;

/** Script that the browser loads until the first screen stands: the page's own and its imports. */
const MAX_FIRST_SCRIPT = 100 * KB;
const MAX_EDITOR = 150 * KB;
const MAX_STYLE = 15 * KB;
/** All files as they lie on the disk. */
const MAX_PACKAGE = 1_024 * KB;

/** The sizes of a build as lines, and what exceeds a budget. */
export interface Weighed {
  readonly lines: readonly string[];
  readonly faults: readonly string[];
}

/** Weighs the build in a folder. */
export function faultsOf(folder: string): Weighed {
  const files = JSON.parse(readFileSync(join(folder, "files.json"), "utf8")) as Readonly<
    Record<string, DashboardFile>
  >;
  const gzOf = (paths: Iterable<string>): number =>
    [...paths].reduce((sum, path) => sum + (files[path]?.gz ?? 0), 0);
  const first = firstScripts(folder);
  const screens = Object.keys(files).filter((path) => /assets\/screen-/.test(path));
  const widest = Math.max(0, ...screens.map((path) => gzOf(importsOf(folder, path, first))));
  const editor = Object.keys(files).filter((path) => /assets\/editor-/.test(path));
  const rows: readonly (readonly [string, number, number])[] = [
    ["script before the first screen", gzOf(first) + widest, MAX_FIRST_SCRIPT],
    ["editor", gzOf(editor), MAX_EDITOR],
    ["style", gzOf(Object.keys(files).filter((path) => path.endsWith(".css"))), MAX_STYLE],
    ["package, unpacked", sizeOf(folder), MAX_PACKAGE],
    ["fonts", Object.keys(files).filter((path) => /\.(?:woff2?|ttf|otf)$/.test(path)).length, 0],
    ["dependencies", dependencies(folder), 0],
  ];
  return {
    lines: rows.map(([what, is, most]) => `${what}: ${show(is)} of ${show(most)}`),
    faults: rows
      .filter(([, is, most]) => is > most)
      .map(
        ([what, is, most]) => `The budget for ${what} is ${show(most)}; the build has ${show(is)}.`,
      ),
  };
}

/** The scripts of the page, with all that they import at once. */
function firstScripts(folder: string): ReadonlySet<string> {
  const html = readFileSync(join(folder, "index.html"), "utf8");
  const found = new Set<string>();
  for (const [, path = ""] of html.matchAll(/src="\.\/([^"]+\.js)"/g))
    for (const one of importsOf(folder, path, found)) found.add(one);
  return found;
}

/** A script and what it imports, without those that are loaded already. */
function importsOf(
  folder: string,
  path: string,
  loaded: ReadonlySet<string>,
  found = new Set<string>(),
): ReadonlySet<string> {
  if (loaded.has(path) || found.has(path)) return found;
  found.add(path);
  const text = readFileSync(join(folder, path), "utf8");
  for (const [, name = ""] of text.matchAll(/(?:from|import)\s*["']\.\/([^"']+\.js)["']/g))
    importsOf(folder, join("assets", name), loaded, found);
  return found;
}

function sizeOf(folder: string): number {
  return globSync("**/*.*", { cwd: folder }).reduce(
    (sum, path) => sum + statSync(join(folder, path)).size,
    0,
  );
}

function dependencies(folder: string): number {
  const manifest = JSON.parse(readFileSync(join(folder, "../../package.json"), "utf8")) as {
    readonly dependencies?: Readonly<Record<string, string>>;
  };
  return Object.keys(manifest.dependencies ?? {}).length;
}

function show(amount: number): string {
  return amount < KB ? String(amount) : `${(amount / KB).toFixed(1)} KB`;
}
