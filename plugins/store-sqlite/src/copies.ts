/** Copies of a store, and files that are looked at without being opened as a store. */

import { closeSync, existsSync, fsyncSync, openSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import type { StoreSchema } from "@sluice/contract";
import { schemaChanges } from "./migrate.ts";
import { explainOpenError } from "./open-database.ts";

/** How long a copy waits for another process, in milliseconds. */
const BUSY_TIMEOUT_MS = 30_000;

/**
 * Writes a consistent copy of a file that may be in use. `vacuum into` reads in one transaction:
 * writers go on meanwhile. Throws `Error` that names the file; no copy is left then.
 */
export function copyStore(path: string, copy: string): void {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
    database.prepare("vacuum into ?").run(copy);
    checkCopy(copy);
    sync(copy);
  } catch (error) {
    rmSync(copy, { force: true });
    throw explainOpenError(error, path);
  } finally {
    database?.close();
  }
}

/** The schema of a file. Throws `Error` that names a file that cannot be read. */
export function inspectStore(path: string): StoreSchema {
  if (!existsSync(path)) return { state: "none", changes: [] };
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
    const { unknown, pending } = schemaChanges(database);
    if (unknown.length > 0) return { state: "newer", changes: unknown };
    return { state: pending.length > 0 ? "older" : "current", changes: pending };
  } catch (error) {
    throw explainOpenError(error, path);
  } finally {
    database?.close();
  }
}

function checkCopy(path: string): void {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    const [found] = database.prepare("pragma quick_check(1)").all();
    if (found?.["quick_check"] !== "ok")
      throw new Error(`the copy is damaged: ${String(found?.["quick_check"])}`);
  } finally {
    database.close();
  }
}

function sync(path: string): void {
  const file = openSync(path, "r+");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
