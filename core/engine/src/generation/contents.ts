/** Contents of a configuration's files: as they were read, as they lie on disk, and what they come to. */

import { type OpenedConfig, openConfig, type OpenOptions, resolveSnapshot } from "../config/load.ts";
import { nameOf } from "../config/open.ts";
import type { Snapshot } from "../config/snapshot.ts";
import { diskSource, heldSource, sha256 } from "../config/source.ts";
import type { Definitions } from "../registry/definitions.ts";
import type { FileTexts } from "./history.ts";

/** The files of an opened configuration. */
export function textsOf({ gateway, pipelines, prices }: OpenedConfig): FileTexts {
  const documents = [gateway, ...pipelines, prices].filter((resolved) => resolved !== undefined);
  return new Map(documents.map(({ document: { path, text } }) => [path, text]));
}

/** The snapshot that contents come to with the references' values of now; `undefined` when they have findings. */
export function snapshotOfTexts(texts: FileTexts, place: OpenOptions, definitions: Definitions): Snapshot | undefined {
  return resolveSnapshot(openConfig({ ...place, source: heldSource(texts) }), definitions.all).snapshot;
}

/** Files that differ, as `config/gateway.yaml (changed)`. */
export function changesOf(before: FileTexts, after: FileTexts, cwd: string): string[] {
  const paths = [...new Set([...before.keys(), ...after.keys()])].filter((path) => before.get(path) !== after.get(path));
  return paths.map((path) => `${nameOf(path, cwd)} (${!before.has(path) ? "added" : !after.has(path) ? "removed" : "changed"})`);
}

/** A digest of the files as they are on disk now. */
export function digestOnDisk({ documents }: OpenedConfig): string {
  return sha256(JSON.stringify(documents.map((path) => [path, ...contentsOnDisk(path)])));
}

function contentsOnDisk(path: string): readonly string[] {
  const read = diskSource.read(path);
  return read.bytes === undefined ? ["absent", read.reason] : ["read", sha256(read.bytes)];
}
