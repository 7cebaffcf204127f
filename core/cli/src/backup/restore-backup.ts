/** Puts a backup in the place of an installation that does not run. */

import { copyFileSync, existsSync, mkdirSync, readdirSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Store } from "@sluice/contract";
import { lockDataFolder, StartError } from "@sluice/engine/installation";
import { CommandError, EXIT } from "../exit.ts";
import { type Manifest, readManifest } from "./manifest.ts";

const FOLDER_MODE = 0o700;
/** What a lock and a start leave, which is nothing of an installation. */
const NOTHING = /^(?:gateway\.lock(?:-journal|-wal|-shm)?|gateway\.json|replaced-.*)$/;

/** Where the backup is, and where it is put. */
export interface RestorePlace {
  readonly folder: string;
  readonly dataDirectory: string;
  readonly store: Pick<Store, "file" | "inspect">;
  readonly storeName: string;
  /** Whether what is there is put aside. */
  readonly isForced: boolean;
}

/** What was restored, and where the files that were there are now. */
export interface Restored {
  readonly manifest: Manifest;
  readonly replaced: readonly string[];
}

/**
 * Restores a backup: checks all of it first, then writes. The mark of the store is written first
 * and the store last, so that a gateway does not start with a part. Throws a CommandError.
 */
export async function restoreBackup(place: RestorePlace): Promise<Restored> {
  const { folder, dataDirectory, store, storeName } = place;
  const manifest = await readManifest(folder);
  const { file } = store;
  if (manifest.store !== null && (manifest.store !== storeName || file === undefined))
    throw new CommandError(
      EXIT.findings,
      `${folder} holds a store of ${manifest.store}, and the configuration has ${storeName}: name a configuration with that store.`,
    );
  const schema =
    manifest.store === null ? undefined : await store.inspect?.(join(folder, "store.db"));
  if (schema?.state === "newer")
    throw new CommandError(
      EXIT.findings,
      `The store in ${folder} was written by a newer version (${manifest.version}; it has ${schema.changes.join(", ")}): restore it with that one.`,
    );
  mkdirSync(dataDirectory, { recursive: true, mode: FOLDER_MODE });
  const lock = locked(dataDirectory);
  try {
    const replaced = putAside(place, file);
    write(place, manifest, file);
    return { manifest, replaced };
  } finally {
    lock.release();
  }
}

function locked(dataDirectory: string) {
  try {
    return lockDataFolder(dataDirectory);
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    throw new CommandError(EXIT.findings, `Nothing was changed. ${error.message}`);
  }
}

/** Moves what is there aside. Throws a CommandError without `--force`. */
function putAside(
  { dataDirectory, isForced }: RestorePlace,
  file: string | undefined,
): readonly string[] {
  const entries = readdirSync(dataDirectory).filter((name) => !NOTHING.test(name));
  const isElsewhere = file !== undefined && dirname(file) !== dataDirectory;
  const stores = isElsewhere
    ? [file, `${file}-wal`, `${file}-shm`].filter((path) => existsSync(path))
    : [];
  const found = [...entries.map((name) => join(dataDirectory, name)), ...stores];
  if (found.length === 0) return [];
  if (!isForced)
    throw new CommandError(
      EXIT.findings,
      `An installation is there already: ${found.slice(0, 5).join(", ")}. Nothing was changed. Name another data folder, or put it aside with --force.`,
    );
  const suffix = `replaced-${new Date().toISOString().replaceAll(/[:.]/g, "-")}`;
  const aside = join(dataDirectory, suffix);
  mkdirSync(aside, { mode: FOLDER_MODE });
  for (const name of entries) renameSync(join(dataDirectory, name), join(aside, name));
  for (const path of stores) renameSync(path, `${path}.${suffix}`);
  return [aside, ...stores.map((path) => `${path}.${suffix}`)];
}

function write(
  { folder, dataDirectory }: RestorePlace,
  { files }: Manifest,
  file: string | undefined,
): void {
  const rank = (path: string): number => (path === "store.id" ? 0 : path === "store.db" ? 2 : 1);
  mkdirSync(join(dataDirectory, "generations"), { recursive: true, mode: FOLDER_MODE });
  for (const { path } of files.toSorted((left, right) => rank(left.path) - rank(right.path))) {
    const to = path === "store.db" && file !== undefined ? file : join(dataDirectory, path);
    mkdirSync(dirname(to), { recursive: true, mode: FOLDER_MODE });
    copyFileSync(join(folder, path), `${to}.draft`);
    renameSync(`${to}.draft`, to);
  }
}
