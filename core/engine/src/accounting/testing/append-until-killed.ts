/**
 * A process that records rows as fast as it can and writes the id of each acknowledged row to its
 * output, until it is killed. Arguments: the directory, a prefix of the ids.
 */

import { writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { createLedger } from "../ledger/ledger.ts";
import { openOutbox } from "../outbox/outbox.ts";
import { openFileStore } from "./file-store.ts";
import { makeRow } from "./make-row.ts";
import { createRecordingLog, systemClock } from "./recording-log.ts";

const CONCURRENCY = 16;

const [directory, prefix] = process.argv.slice(2) as [string, string];
const store = openFileStore(join(directory, "store.db"));
const ledger = createLedger({
  outbox: openOutbox({ directory }),
  store,
  log: createRecordingLog(),
  clock: systemClock,
});

let next = 0;
await Promise.all(Array.from({ length: CONCURRENCY }, record));

async function record(_: unknown, worker: number): Promise<never> {
  for (;;) {
    const id = `${prefix}-${next++}`;
    await ledger.record([makeRow(id)]);
    // Synchronous: what the parent reads was acknowledged, whenever the kill comes.
    writeSync(1, `${id}\n`);
    await wait(worker % 3);
  }
}
