/** Where the module of an entry of `plugins:` is: a file, or a package by the rules of Node. */

import { parseJson } from "@sluice/kit";
import { existsSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, isAbsolute, join, resolve } from "node:path";
import satisfies from "semver/functions/satisfies.js";
import validRange from "semver/ranges/valid.js";
import { installationFiles } from "../config/files/found-plugins.ts";
import type { Finding } from "../config/finding.ts";

/** What is wrong with an entry, without its place in the file. */
export type Fault = Omit<Finding, "at">;

/** The module of an entry of the file `from`, or why there is none. */
export function locate(specifier: string, from: string): Located | Fault {
  return isFile(specifier) ? locateFile(specifier, from) : locatePackage(specifier, from);
}

/** A module of an entry. */
export interface Located {
  readonly path: string;
  readonly version: string | undefined;
  /**
   * The last part of the name that npm installed the package under, where it is not the package's
   * own.
   */
  readonly alias?: string;
}

function isFile(specifier: string): boolean {
  return specifier.startsWith("./") || specifier.startsWith("../") || isAbsolute(specifier);
}

function locateFile(specifier: string, from: string): Located | Fault {
  const path = resolve(dirname(from), specifier);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) {
    const inside = ["src/index.ts", "index.ts", "dist/index.js", "index.js"].find((name) =>
      existsSync(join(path, name)),
    );
    return {
      message: `Plugin ${specifier} is a folder.`,
      fix: `Name its file: ${specifier.replace(/\/$/, "")}/${inside ?? "src/index.ts"}.`,
    };
  }
  if (existsSync(path)) return { path, version: undefined };
  const ending = ENDINGS.find((one) => existsSync(path + one));
  return {
    message: `Plugin file ${specifier} does not exist.`,
    fix:
      ending === undefined
        ? `Create ${path}, or correct the path: it is relative to this file.`
        : `Write ${specifier}${ending}.`,
  };
}

/** Endings of the names of modules. */
const ENDINGS = [".ts", ".js", ".mts", ".mjs"] as const;

function locatePackage(specifier: string, from: string): Located | Fault {
  const at = specifier.indexOf("@", 1);
  const name = at < 0 ? specifier : specifier.slice(0, at);
  const range = at < 0 ? undefined : specifier.slice(at + 1);
  if (range !== undefined && validRange(range) === null) {
    return {
      message: `${JSON.stringify(range)} of plugin ${specifier} is not a version range.`,
      fix: `Write ${name}@^1.0.0, for example.`,
    };
  }
  const path = resolvePackage(name, from);
  if (path === undefined && ENDINGS.some((ending) => name.endsWith(ending)))
    return {
      message: `Plugin ${name} is the name of a package.`,
      fix: `Write ./${name} for a file beside this one.`,
    };
  if (path === undefined)
    return {
      message: `Plugin ${name} is not installed.`,
      fix: `Run npm install ${name}, or correct the name.`,
    };
  const manifest = manifestOf(path);
  const version = manifest?.version;
  if (range !== undefined && (version === undefined || !satisfies(version, range))) {
    return {
      message: `Plugin ${name} is installed as ${version ?? "no version"}, but the configuration needs ${range}.`,
      fix: `Install ${name}@${range}, or write ^${version ?? "1.0.0"}.`,
    };
  }
  const isAlias = manifest?.name !== undefined && manifest.name !== name;
  return { path, version, ...(isAlias ? { alias: name.slice(name.lastIndexOf("/") + 1) } : {}) };
}

/** Beside the configuration first, then beside the engine, then beside the command. */
function resolvePackage(name: string, from: string): string | undefined {
  for (const base of [from, ...installationFiles()]) {
    try {
      return createRequire(base).resolve(name);
    } catch {
      // Not there: the next place may have it.
    }
  }
  return undefined;
}

interface Manifest {
  readonly name?: string;
  readonly version?: string;
}

/** The package.json that a module belongs to: the first one above it that has a version. */
function manifestOf(path: string): Manifest | undefined {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const file = join(folder, "package.json");
    if (existsSync(file)) {
      const manifest = parseJson(readFileSync(file, "utf8")) as Manifest;
      if (manifest.version !== undefined) return manifest;
    }
    if (folder === dirname(folder)) return undefined;
  }
}
