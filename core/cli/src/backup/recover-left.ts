/** `sluice ledger recover`: moves the rows of a data folder without its gateway to the store. */

import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { errorMessage, type Log, type Store } from "@sluice/contract";
import { readStoreMark, type RecoveredOutbox, recoverFolder } from "@sluice/engine/installation";
import { systemClock } from "@sluice/engine/telemetry";
import { installationAt } from "../commands/backup.ts";
import { counted } from "../counted.ts";
import { CommandError, EXIT } from "../exit.ts";

/** The options of the command. */
export interface RecoverOptions {
  readonly config: string;
  readonly json?: boolean;
}

/** Some millions of rows. */
const MAX_MS = 1_800_000;
const START_MS = 30_000;

/** Moves the rows. Throws a CommandError for a folder that is in use, or has another store. */
export async function recoverLeft(
  folder: string,
  { config, json = false }: RecoverOptions,
): Promise<void> {
  if (!existsSync(join(folder, "instance")))
    throw new CommandError(
      EXIT.findings,
      `${folder} is no data folder of a gateway: it has no file instance. Name the folder of server.data_directory.`,
    );
  const { store, storeName } = await installationAt(config);
  const recovered = await moved(folder, store, storeName).catch((error: unknown) => {
    if (error instanceof CommandError) throw error;
    throw new CommandError(
      EXIT.findings,
      `The rows that were not moved stay in ${folder}: ${errorMessage(error)}`,
    );
  });
  if (json) console.log(JSON.stringify({ folder, outboxes: recovered }, null, 2));
  else {
    const rows = recovered.reduce((sum, one) => sum + one.rows, 0);
    console.log(
      rows === 0
        ? `${folder} has no rows that wait.`
        : `${counted(rows, "row")} of ${folder} ${rows === 1 ? "is" : "are"} in the store. It has left out those that it had.`,
    );
  }
}

async function moved(
  directory: string,
  store: Store,
  storeName: string,
): Promise<readonly RecoveredOutbox[]> {
  const schema = await store.inspect?.();
  if (schema !== undefined && schema.state !== "current")
    throw new CommandError(
      EXIT.findings,
      `The schema of the store ${storeName} is not that of this version: sluice migrate --plan says how it differs.`,
    );
  const mark = readStoreMark(directory);
  await store.start(AbortSignal.timeout(START_MS), { mustExist: true });
  try {
    const id = await store.keep?.("id", mark ?? randomUUID());
    if (mark !== undefined && id !== undefined && id !== mark)
      throw new CommandError(
        EXIT.findings,
        `${directory} was used with another store than the one of --config: name the configuration of its gateway.`,
      );
    const parts = { directory, store: store.ledger, log: LOUD, clock: systemClock };
    return await recoverFolder(parts, AbortSignal.timeout(MAX_MS));
  } finally {
    await store.stop();
  }
}

/** A store that does not answer is tried again: the operator learns why the command waits. */
const LOUD: Log = {
  debug() {},
  info() {},
  warn: (message, fields) => console.error(lineOf(message, fields)),
  error: (message, fields) => console.error(lineOf(message, fields)),
};

function lineOf(message: string, fields: Parameters<Log["warn"]>[1]): string {
  return fields === undefined ? message : `${message} ${JSON.stringify(fields)}`;
}
