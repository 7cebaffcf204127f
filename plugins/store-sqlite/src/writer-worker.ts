/**
 * The thread that writes: a connection of its own to a file that exists, one task after the other.
 */

import { type AuditEntry, errorMessage } from "@sluice/contract";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { parentPort, workerData } from "node:worker_threads";
import {
  inTransaction,
  type RunTransaction,
  type StatementResult,
  statementsOf,
  type Writing,
} from "./statements.ts";
import { createAuditAppend } from "./audit/append.ts";
import { createLedgerInsert } from "./ledger/insert.ts";
import type { LedgerValues } from "./ledger/sums/amounts.ts";
import { WRITING_BUSY_TIMEOUT_MS } from "./open-database.ts";

/** A task of the thread. */
export type WriterTask =
  | { readonly kind: "insert"; readonly rows: readonly LedgerValues[] }
  | {
      readonly kind: "statement";
      readonly sql: string;
      readonly parameters: readonly SQLInputValue[];
    }
  | {
      readonly kind: "transaction";
      readonly statements: Parameters<RunTransaction>[0];
      readonly audit: AuditEntry | undefined;
    }
  | { readonly kind: "end" };

/** A message to the thread. */
export interface WriterQuestion {
  readonly id: number;
  readonly task: WriterTask;
}

/** An answer of the thread. */
export type WriterAnswer =
  | { readonly id: number; readonly kind: "done"; readonly results: readonly StatementResult[] }
  | {
      readonly id: number;
      readonly kind: "error";
      readonly message: string;
      readonly errcode: unknown;
    };

const { file, synchronous } = workerData as { file: string; synchronous: string };
// A file that is gone must not come back empty.
const place = pathToFileURL(file);
place.searchParams.set("mode", "rw");
const database = new DatabaseSync(place, {
  timeout: WRITING_BUSY_TIMEOUT_MS,
  enableForeignKeyConstraints: true,
});
database.exec(
  `pragma synchronous = ${synchronous}; pragma cache_size = -4000; pragma temp_store = memory;`,
);
const insert = createLedgerInsert(database);
const run = statementsOf(database);

parentPort?.on("message", ({ id, task }: WriterQuestion) => {
  if (task.kind === "end") {
    database.close();
    parentPort?.close();
    return;
  }
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a window has an origin, a thread has none.
  const send = (answer: WriterAnswer): void => parentPort?.postMessage(answer);
  try {
    send({ id, kind: "done", results: resultsOf(task) });
  } catch (error) {
    const errcode = error instanceof Error && "errcode" in error ? error.errcode : undefined;
    send({ id, kind: "error", message: errorMessage(error), errcode });
  }
});

/** Made with the first change of a record: most threads insert rows alone. */
let made: Writing | undefined;

function writing(): Writing {
  return (made ??= { database, run, append: createAuditAppend(database) });
}

function resultsOf(task: Exclude<WriterTask, { kind: "end" }>): readonly StatementResult[] {
  if (task.kind === "transaction") return inTransaction(writing(), task.statements, task.audit);
  if (task.kind === "statement") return [run(task.sql, task.parameters)];
  return [{ rows: [], changes: insert(task.rows) }];
}
