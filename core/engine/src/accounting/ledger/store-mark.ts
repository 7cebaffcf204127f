/**
 * The mark of a store in the data folder: it identifies the store that the folder was used with.
 */

import { createHmac, randomUUID } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Log, Store } from "@sluice/contract";
import { StartError } from "../../resources/installation.ts";

const OWNER_ONLY = 0o600;

/** The mark of a data folder, `undefined` before the first start with a store that lasts. */
export function readStoreMark(dataDirectory: string): string | undefined {
  try {
    const mark = readFileSync(markPath(dataDirectory), "utf8").trim();
    return mark === "" ? undefined : mark;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** The parts of a comparison. */
export interface StoreMarkParts {
  readonly dataDirectory: string;
  /** The mark that was there before the store was opened. */
  readonly mark: string | undefined;
  readonly pepper: Buffer;
  /** Whether a store whose keys were made under another pepper is used all the same. */
  readonly mayUseForeignPepper: boolean;
  readonly log: Log;
}

/**
 * Compares an open store with the data folder's mark, or writes the first mark. Throws a
 * StartError for a store that another data folder began, and for one whose keys were made under
 * another pepper: none of them would be recognised here.
 */
export async function compareStore(
  store: Store,
  { dataDirectory, mark, pepper, mayUseForeignPepper, log }: StoreMarkParts,
): Promise<void> {
  if (store.keep === undefined) return;
  const id = await store.keep("id", mark ?? randomUUID());
  if (mark === undefined) writeFileSync(markPath(dataDirectory), `${id}\n`, { mode: OWNER_ONLY });
  else if (id !== mark) {
    throw new StartError(
      `The store is not the one that this data folder was used with. ${howToGoOn(dataDirectory)}`,
    );
  }
  const print = pepperPrint(pepper);
  if ((await store.keep("pepper", print)) === print) return;
  const fault = foreignPepper(dataDirectory);
  if (!mayUseForeignPepper)
    throw new StartError(
      `${fault} To give up all keys of the store, and keep its rows, set ${FOREIGN_PEPPER}=accept.`,
    );
  log.warn("the keys of this store were made under another pepper", { fault });
}

/** The variable with which a start takes a store of another pepper. */
export const FOREIGN_PEPPER = "SLUICE_FOREIGN_PEPPER";

/** The check value of a pepper, which the store has. It reveals nothing of the pepper. */
export function pepperPrint(pepper: Buffer): string {
  return createHmac("sha256", pepper).update("sluice: the pepper of a store").digest("hex");
}

/** What is wrong when the check value of the store is another one, and the remedy. */
export function foreignPepper(dataDirectory: string): string {
  return (
    `The keys of the store were made under another pepper than ${join(dataDirectory, "pepper")}: none of them would be recognised. ` +
    "Copy the file pepper from the data folder in which the keys were made, or restore a backup."
  );
}

/** The remedy for a data folder without its store. */
export function howToGoOn(dataDirectory: string): string {
  return (
    `Put back the store that belongs to ${dataDirectory}, or a copy of it. To use another or an empty store, without the keys and ` +
    `spend rows from before, delete ${markPath(dataDirectory)}.`
  );
}

function markPath(dataDirectory: string): string {
  return join(dataDirectory, "store.id");
}
