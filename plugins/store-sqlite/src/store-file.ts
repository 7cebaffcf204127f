/** The place of the database file, and whether it is the one that is meant. */

import { statSync } from "node:fs";
import { join, resolve } from "node:path";

/** A database that ends with its process. */
export const MEMORY = ":memory:";

/** Where the file was by default before it followed the data folder. */
const FORMER_DEFAULT = "data/sluice.db";

/** The file that a configuration means. */
export function storeFile(path: string | undefined, dataDirectory: string): string {
  if (path === MEMORY) return MEMORY;
  return path === undefined ? join(dataDirectory, "sluice.db") : resolve(path);
}

/** How a file is looked for. */
export interface StoreFileOptions {
  /** Whether the configuration names no file. */
  readonly isDefault: boolean;
  /** Whether a store was there before. */
  readonly mustExist: boolean;
}

/**
 * Throws `Error` where SQLite would make an empty store in place of an existing one. An empty store
 * has no keys: every request would be refused.
 */
export function checkStoreFile(path: string, { isDefault, mustExist }: StoreFileOptions): void {
  if (path === MEMORY || sizeOf(path) > 0) return;
  if (mustExist)
    throw new Error(
      `the store file ${path} is missing or empty. Put it back, or restore a copy of it.`,
    );
  const former = resolve(FORMER_DEFAULT);
  if (!isDefault || former === path || sizeOf(former) === 0) return;
  throw new Error(
    `the store file ${path} is missing, and ${former} is a store. The default path is below server.data_directory. Move ${former} to ${path}, ` +
      `with its -wal and -shm files, or set store.path to ${former}.`,
  );
}

/** A file by device and inode; `undefined` when it is missing. */
export function identityOf(path: string): string | undefined {
  try {
    const found = statSync(path, { throwIfNoEntry: false, bigint: true });
    return found === undefined ? undefined : `${found.dev}:${found.ino}`;
  } catch {
    return undefined;
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
