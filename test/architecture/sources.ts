/** The house's sources and their import lines, for the tests of its architecture. */

import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** The repository's root. */
export const ROOT = resolve(import.meta.dirname, "../..");

/** One import of a source file. */
export interface Import {
  /** As written. */
  readonly specifier: string;
  /** Erased at run time: `import type`, or braces in which every name is a type. */
  readonly isType: boolean;
  /** Path from the root of the file that a relative import names. */
  readonly path: string | undefined;
}

/** One source file. */
export interface Source {
  /** Path from the root, with slashes. */
  readonly path: string;
  /** `core/engine`, `plugins/standard`. */
  readonly folder: string;
  readonly text: string;
  readonly imports: readonly Import[];
}

const IMPORT = /^(?:import|export)\s+(?:(type\s)?([^;'"]*?)\s*from\s*)?["']([^"']+)["']/gms;
const DYNAMIC = /\bimport\(\s*["']([^"']+)["']\s*\)/g;

/** Every source of every package, tests and their fixtures left out. */
export function readSources(): readonly Source[] {
  return globSync("{core,plugins}/*/src/**/*.{ts,tsx}", { cwd: ROOT })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => !isTest(path))
    .sort()
    .map((path) => {
      const text = readFileSync(join(ROOT, path), "utf8");
      return {
        path,
        folder: path.split("/").slice(0, 2).join("/"),
        text,
        imports: readImports(path, text),
      };
    });
}

/** Whether a file belongs to tests: it may import what its subject may not. */
export function isTest(path: string): boolean {
  return (
    /\.(?:test|fixture|bench)\.tsx?$/.test(path) ||
    path.startsWith("core/engine/src/accounting/testing/")
  );
}

/** The imports of a text. `path` is where it stands, from the root. */
export function readImports(path: string, text: string): Import[] {
  const statically = [...text.matchAll(IMPORT)].map(([, type, names = "", specifier = ""]) => ({
    specifier,
    isType: type !== undefined || isAllTypes(names),
  }));
  const dynamically = [...text.matchAll(DYNAMIC)].map(([, specifier = ""]) => ({
    specifier,
    isType: false,
  }));
  return [...statically, ...dynamically].map((line) => ({
    ...line,
    path: line.specifier.startsWith(".")
      ? join(dirname(path), line.specifier).replaceAll("\\", "/")
      : undefined,
  }));
}

function isAllTypes(names: string): boolean {
  const [, inside] = /^\{([\s\S]*)\}$/.exec(names.trim()) ?? [];
  const listed = (inside ?? "").split(",").map((name) => name.trim());
  return (
    inside !== undefined &&
    listed.filter((name) => name !== "").every((name) => name.startsWith("type "))
  );
}

/** Folders of the packages, from the root. */
export function packageFolders(): readonly string[] {
  return globSync("{core,plugins}/*", { cwd: ROOT })
    .filter((folder) => existsSync(join(ROOT, folder, "package.json")))
    .sort();
}
