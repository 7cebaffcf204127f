/**
 * The thread that reads the ledger: its own connection, which can only read. Questions share its
 * time in turns.
 */

import { errorMessage, type ErrorCode, isGatewayError } from "@sluice/contract";
import { DatabaseSync } from "node:sqlite";
import { setImmediate as yieldToLoop } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { createLedgerAnswers, type LedgerBatch, type LedgerQuestion } from "./questions.ts";
import { CANCELLED, RECEIVED } from "./slots.ts";

/** A message to the thread. */
export interface WorkerQuestion {
  readonly id: number;
  readonly question: LedgerQuestion;
  /**
   * Memory that both threads see immediately, because a busy thread reads no messages: see
   * `CANCELLED` and `RECEIVED`.
   */
  readonly shared: Int32Array<SharedArrayBuffer>;
}

/** The thread's answers: batches, then an end, with the last batch, or an error. */
export type WorkerAnswer =
  | { readonly id: number; readonly kind: "batch"; readonly batch: LedgerBatch }
  | { readonly id: number; readonly kind: "end"; readonly batch: LedgerBatch }
  | {
      readonly id: number;
      readonly kind: "error";
      readonly message: string;
      readonly code: ErrorCode | undefined;
    };

/** Batches under way at most: more would come to the other thread all in one turn. */
const MAX_UNDER_WAY = 2;

/** Time one question has before the next one gets a turn, in milliseconds. */
const TURN_MS = 10;

const database = new DatabaseSync((workerData as { path: string }).path, {
  readOnly: true,
  timeout: 2_000,
});
database.exec("pragma cache_size = -64000; pragma temp_store = memory;");
const answers = createLedgerAnswers(database);

parentPort?.on("message", (question: WorkerQuestion) => void answer(question));

async function answer({ id, question, shared }: WorkerQuestion): Promise<void> {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a window has an origin, a thread has none.
  const send = (message: WorkerAnswer): void => parentPort?.postMessage(message);
  try {
    let turnEndsMs = performance.now() + TURN_MS;
    let sent = 0;
    let last: LedgerBatch = [];
    for (const batch of answers(question)) {
      if (batch.length > 0) {
        if (last.length > 0) {
          send({ id, kind: "batch", batch: last });
          await taken(++sent - MAX_UNDER_WAY, shared);
        }
        last = batch;
      }
      if (performance.now() >= turnEndsMs) {
        await yieldToLoop();
        turnEndsMs = performance.now() + TURN_MS;
      }
      if (Atomics.load(shared, CANCELLED) === 1) return;
    }
    send({ id, kind: "end", batch: last });
  } catch (error) {
    const code = isGatewayError(error) ? error.code : undefined;
    send({ id, kind: "error", message: errorMessage(error), code });
  }
}

/** Resolves when this many batches have been received, or the caller has stopped waiting. */
async function taken(batches: number, shared: Int32Array<SharedArrayBuffer>): Promise<void> {
  for (;;) {
    const received = Atomics.load(shared, RECEIVED);
    if (received >= batches || Atomics.load(shared, CANCELLED) === 1) return;
    await Atomics.waitAsync(shared, RECEIVED, received).value;
  }
}
