/** The configuration of a start with `--last-good`, when the files are broken. */

import { resolve } from "node:path";
import type { Log } from "@sluice/contract";
import type { OpenedConfig } from "../../config/load.ts";
import { valueAtPath } from "../../config/files/path.ts";
import { serverSchema } from "../../config/schema/server.ts";
import { type ConfigSource, diskSource, heldSource } from "../../config/files/source.ts";
import { type FileTexts, openHistory } from "./history.ts";

/** Contents to start with. */
export interface LastGood {
  readonly texts: FileTexts;
  readonly contentsOf: number;
  readonly digest: string;
  readonly source: ConfigSource;
  /** The files on disk that these contents replaced; absent when the files were the contents. */
  readonly onDisk?: string | undefined;
}

/** The newest generation of this gateway file, `undefined` when none is kept. */
export function findLastGood(opened: OpenedConfig, log: Log): LastGood | undefined {
  const { entries, textsOf } = openHistory(dataDirectoryOf(opened), log);
  const entry = entries.findLast(
    ({ path, returned }) => path === opened.path && returned === undefined,
  );
  const texts = entry === undefined ? undefined : textsOf(entry.generation);
  if (entry === undefined || texts === undefined) return undefined;
  return {
    texts,
    contentsOf: entry.generation,
    digest: entry.digest,
    source: heldSource(texts),
    onDisk: entry.onDisk,
  };
}

/**
 * Whether the newest generation of the history is a canary with these contents that was returned.
 */
export function wasReturned(opened: OpenedConfig, digest: string | undefined, log: Log): boolean {
  const last = openHistory(dataDirectoryOf(opened), log).entries.findLast(
    ({ path }) => path === opened.path,
  );
  return last?.returned !== undefined && last.digest === digest;
}

/** The data folder of a broken file: read as YAML, or else found as text, or else the default. */
export function dataDirectoryOf({ gateway, path, cwd }: OpenedConfig): string {
  const parsed = valueAtPath(gateway?.value, ["server", "data_directory"]);
  const text = gateway === undefined ? (diskSource.read(path).bytes?.toString("utf8") ?? "") : "";
  const found = /\bdata_directory:\s*["']?([^\s,}"'#]+)/.exec(text)?.[1];
  const byDefault = valueAtPath(serverSchema, ["properties", "data_directory", "default"]);
  const named = [parsed, found, byDefault].find(
    (value) => typeof value === "string" && value !== "",
  );
  return resolve(cwd, String(named));
}
