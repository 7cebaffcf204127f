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
  readonly log: Log;
}

/**
 * Compares an open store with the data folder's mark, or writes the first mark. Throws a StartError
 * for a store that another data folder began. Warns when the store's keys were made under another
 * pepper: none of them is recognised here.
 */
export async function compareStore(
  store: Store,
  { dataDirectory, mark, pepper, log }: StoreMarkParts,
): Promise<void> {
  if (store.keep === undefined) return;
  const id = await store.keep("id", mark ?? randomUUID());
  if (mark === undefined) writeFileSync(markPath(dataDirectory), `${id}\n`, { mode: OWNER_ONLY });
  else if (id !== mark) {
    throw new StartError(
      `The store is not the one that this data folder was used with. ${howToGoOn(dataDirectory)}`,
    );
  }
  const print = createHmac("sha256", pepper).update("sluice: the pepper of a store").digest("hex");
  if ((await store.keep("pepper", print)) === print) return;
  log.warn(
    "the keys of this store were made under another pepper, and none of them is recognised here",
    {
      pepper: join(dataDirectory, "pepper"),
      advice:
        "stop the gateway, copy the file pepper from the data folder in which the keys were made, start it again",
    },
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
