/** The thread that reads the ledger: its own connection, which can only read. Questions share its time in turns. */

import { DatabaseSync } from "node:sqlite";
import { setImmediate as yieldToLoop } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { createLedgerAnswers, type LedgerBatch, type LedgerQuestion } from "./ledger-questions.ts";

/** What the thread is sent. */
export interface WorkerQuestion {
  readonly id: number;
  readonly question: LedgerQuestion;
  /** One byte, which becomes 1 when nobody waits any more: a thread that computes reads no messages. */
  readonly cancelled: Uint8Array<SharedArrayBuffer>;
}

/** What the thread sends back: batches, then an end or an error. */
export type WorkerAnswer =
  | { readonly id: number; readonly kind: "batch"; readonly batch: LedgerBatch }
  | { readonly id: number; readonly kind: "end" }
  | { readonly id: number; readonly kind: "error"; readonly message: string };

/** Time one question has before the next one gets a turn, in milliseconds. */
const TURN_MS = 10;

const database = new DatabaseSync((workerData as { path: string }).path, { readOnly: true, timeout: 2_000 });
database.exec("pragma cache_size = -64000; pragma temp_store = memory;");
const answers = createLedgerAnswers(database);

parentPort?.on("message", (question: WorkerQuestion) => void answer(question));

async function answer({ id, question, cancelled }: WorkerQuestion): Promise<void> {
  const send = (message: WorkerAnswer): void => parentPort?.postMessage(message);
  try {
    let turnEndsMs = performance.now() + TURN_MS;
    for (const batch of answers(question)) {
      if (batch.length > 0) send({ id, kind: "batch", batch });
      if (performance.now() >= turnEndsMs) {
        await yieldToLoop();
        turnEndsMs = performance.now() + TURN_MS;
      }
      if (Atomics.load(cancelled, 0) === 1) return;
    }
    send({ id, kind: "end" });
  } catch (error) {
    send({ id, kind: "error", message: error instanceof Error ? error.message : String(error) });
  }
}
