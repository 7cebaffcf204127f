/** The names of the files of a configuration: those that findings and the admin listener have. */

import { resolve } from "node:path";
import { nameOf, type OpenedConfig, type OpenOptions } from "./open.ts";
import { storedName, storedPath } from "./stored/stored-files.ts";

/** The place of a configuration. */
export type FilePlace = Pick<OpenOptions, "path" | "cwd" | "isStored">;

/** The place of a configuration that was read. */
export function placeOf({ path, cwd, own }: OpenedConfig): FilePlace {
  return { path, cwd, isStored: own !== undefined };
}

/** The name of a file: `store:gateway.yaml` in the store, `config/gateway.yaml` on disk. */
export function fileName(file: string, { path, cwd, isStored = false }: FilePlace): string {
  return isStored ? storedName(resolve(cwd, path), file) : nameOf(file, cwd);
}

/** The absolute path of the file that a name means. */
export function fileOfName(name: string, { path, cwd, isStored = false }: FilePlace): string {
  const stored = isStored ? storedPath(resolve(cwd, path), name) : undefined;
  return stored ?? resolve(cwd, name);
}
