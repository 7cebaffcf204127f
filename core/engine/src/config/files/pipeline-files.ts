/** Which pipeline files a configuration has. */

import { basename, dirname, join, resolve } from "node:path";
import { SHIPPED, SHIPPED_PIPELINES } from "./shipped.ts";
import { type ConfigSource, diskSource, fileFault } from "./source.ts";

/** The pipeline files, and the folders that were looked into. */
export interface PipelineFiles {
  /** Absolute paths in the order of their names. */
  readonly files: readonly string[];
  /** Absolute paths of the folders of the configuration's own files. */
  readonly folders: readonly string[];
  /** Folders without a pipeline file, and why. */
  readonly faults: readonly { readonly folder: string; readonly fault: string }[];
}

/**
 * The files of the folders that `pipelines` names: one folder, or a list in which `shipped` stands
 * for the shipped pipelines and a later file takes the place of an earlier one of its name, whether
 * it ends with `.yaml` or `.yml`. Without
 * it: those of the usual folder, or, where there is none, the shipped ones. `home` is the folder of
 * the gateway file.
 */
export function pipelineFiles(named: unknown, home: string, source: ConfigSource): PipelineFiles {
  const folders = foldersOf(named, home, source);
  const listed = folders.map((folder) => ({ folder, ...listFolder(folder, source) }));
  const byName = new Map<string, string>();
  for (const { folder, files } of listed) {
    const names = new Set(files.map(stemOf));
    for (const [name, file] of byName)
      if (dirname(file) !== folder && names.has(stemOf(file))) byName.delete(name);
    for (const file of files) byName.set(basename(file), file);
  }
  const own = folders.filter((folder) => folder !== SHIPPED_PIPELINES);
  return {
    files: [...byName].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, file]) => file),
    // A folder that appears takes the place of the shipped pipelines.
    folders: own.length === 0 && named === undefined ? [usualFolder(home)] : own,
    faults: listed.flatMap(({ folder, fault }) => (fault === undefined ? [] : [{ folder, fault }])),
  };
}

/** A file's name without its ending. */
function stemOf(file: string): string {
  return basename(file).replace(/\.ya?ml$/, "");
}

function foldersOf(named: unknown, home: string, source: ConfigSource): readonly string[] {
  const isName = (value: unknown): value is string => typeof value === "string" && value !== "";
  if (isName(named)) return [resolve(home, named)];
  if (Array.isArray(named) && named.some(isName))
    return named
      .filter(isName)
      .map((name) => (name === SHIPPED ? SHIPPED_PIPELINES : resolve(home, name)));
  const usual = usualFolder(home);
  const other =
    usual === join(home, "pipelines") ? resolve(home, "../pipelines") : join(home, "pipelines");
  return [[usual, other].find((place) => source.has(place)) ?? SHIPPED_PIPELINES];
}

/**
 * A gateway file in a folder `config` has its pipelines beside that folder, any other file beside
 * itself.
 */
export function usualFolder(home: string): string {
  return basename(home) === "config" ? resolve(home, "../pipelines") : join(home, "pipelines");
}

function listFolder(
  folder: string,
  source: ConfigSource,
): { readonly files: readonly string[]; readonly fault: string | undefined } {
  try {
    const names = sourceOf(folder, source).list(folder);
    const files = names
      .filter((name) => /^[^.].*\.ya?ml$/.test(name))
      .map((name) => join(folder, name));
    return { files, fault: files.length === 0 ? "holds no *.yaml file" : undefined };
  } catch (error) {
    return { files: [], fault: `cannot be read: ${fileFault(error)}` };
  }
}

/** Shipped files are no part of what is edited and kept: they are read where they are installed. */
export function sourceOf(folder: string, source: ConfigSource): ConfigSource {
  return folder === SHIPPED_PIPELINES && !source.has(folder) ? diskSource : source;
}

/** Whether a file is read where it is installed. */
export function isInstalled(file: string, own: readonly string[]): boolean {
  return dirname(file) === SHIPPED_PIPELINES && !own.includes(SHIPPED_PIPELINES);
}
