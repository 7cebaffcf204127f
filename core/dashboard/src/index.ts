/**
 * What the admin listener serves under `/ui/`: the folder of the built files, and what each is. In
 * a checkout that was not built, `files` is empty.
 */

import { existsSync, readFileSync } from "node:fs";

/** One built file. */
export interface DashboardFile {
  /** The media type. */
  readonly type: string;
  /** As in Subresource Integrity: `sha384-…`. */
  readonly integrity: string;
  /** Bytes after gzip. */
  readonly gz: number;
}

/** The folder of the files, with a slash at its end. */
export const root: URL = new URL("../dist/ui/", import.meta.url);

/** The files by their paths in `root`. Names in `assets/` have a digest of the contents. */
export const files: Readonly<Record<string, DashboardFile>> = readFiles();

function readFiles(): Readonly<Record<string, DashboardFile>> {
  const list = new URL("files.json", root);
  if (!existsSync(list)) return {};
  return JSON.parse(readFileSync(list, "utf8")) as Readonly<Record<string, DashboardFile>>;
}
