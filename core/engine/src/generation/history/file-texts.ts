/** Contents of configuration files: those that were read, and those that are on disk. */

import { fileName } from "../../config/files/file-names.ts";
import { nameOf } from "../../config/files/open.ts";
import {
  openConfig,
  type OpenedConfig,
  type OpenOptions,
  resolveSnapshot,
} from "../../config/load.ts";
import { type ConfigSource, diskSource, heldSource, sha256 } from "../../config/files/source.ts";
import type { Snapshot, SnapshotFile } from "../../config/snapshot.ts";
import type { Definitions } from "../../registry/definitions.ts";
import type { FileTexts } from "./history.ts";

/** A file whose contents on disk are not those that run. */
export interface DriftedFile {
  readonly path: string;
  readonly change: "changed" | "added" | "removed";
}

/** The contents of the documents that were read, but for those of the installation. */
export function textsOf({ gateway, pipelines, prices, documents }: OpenedConfig): FileTexts {
  const own = new Set(documents);
  const read = [gateway, ...pipelines, prices].filter((resolved) => resolved !== undefined);
  return new Map(
    read
      .filter(({ document }) => own.has(document.path))
      .map(({ document: { path, text } }) => [path, text]),
  );
}

/**
 * The snapshot of contents with the present values of references; `undefined` when it has findings.
 */
export function snapshotOfTexts(
  texts: FileTexts,
  place: OpenOptions,
  definitions: Definitions,
): Snapshot | undefined {
  return resolveSnapshot(openConfig({ ...place, source: heldSource(texts) }), definitions.all)
    .snapshot;
}

/** The files that differ, as `config/gateway.yaml (changed)`. */
export function changesOf(before: FileTexts, after: FileTexts, cwd: string): string[] {
  const paths = [...new Set([...before.keys(), ...after.keys()])].filter(
    (path) => before.get(path) !== after.get(path),
  );
  return paths.map(
    (path) =>
      `${nameOf(path, cwd)} (${!before.has(path) ? "added" : !after.has(path) ? "removed" : "changed"})`,
  );
}

/** The documents of a configuration as they are now, on disk or in the store, to compare. */
export function digestOnDisk(
  { documents }: OpenedConfig,
  source: ConfigSource = diskSource,
): string {
  return sha256(JSON.stringify(documents.map((path) => [path, ...contentsIn(source, path)])));
}

/** The texts as they were read: the same text as long as no file has been saved since. */
export function digestAsRead(
  { documents, files }: OpenedConfig,
  source: ConfigSource = diskSource,
): string {
  const read = new Map(files.map(({ path, digest }) => [path, ["read", digest]]));
  return sha256(
    JSON.stringify(
      documents.map((path) => [path, ...(read.get(path) ?? contentsIn(source, path))]),
    ),
  );
}

/** The present files by name, valid or not. */
export function filesOnDisk(place: OpenOptions): Readonly<Record<string, string>> {
  const { source = diskSource } = place;
  const read = openConfig(place).documents.flatMap((path) => {
    const { bytes } = source.read(path);
    return bytes === undefined ? [] : [[fileName(path, place), bytes.toString("utf8")] as const];
  });
  return Object.fromEntries(read);
}

function contentsIn(source: ConfigSource, path: string): readonly string[] {
  const read = source.read(path);
  return read.bytes === undefined ? ["absent", read.reason] : ["read", sha256(read.bytes)];
}

/**
 * The differences between the files on disk and the running ones. `documents` are the present paths
 * of the configuration.
 */
export function driftOf(
  files: readonly SnapshotFile[],
  documents: readonly string[],
  source: ConfigSource = diskSource,
): DriftedFile[] {
  const drifted = files.flatMap(({ path, digest }): DriftedFile[] => {
    const { bytes } = source.read(path);
    if (bytes === undefined) return [{ path, change: "removed" }];
    return sha256(bytes) === digest ? [] : [{ path, change: "changed" }];
  });
  const running = new Set(files.map(({ path }) => path));
  const added = documents.filter((path) => !running.has(path) && source.has(path));
  return [...drifted, ...added.map((path) => ({ path, change: "added" as const }))];
}
