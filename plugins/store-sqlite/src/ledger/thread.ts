/**
 * Reads the ledger in a thread of its own: a sum over millions of rows must not keep the gateway
 * from serving.
 */

import { type ErrorCode, GatewayError, type Log } from "@sluice/contract";
import { waitForAnswer } from "@sluice/kit";
import type { Worker } from "node:worker_threads";
import { startThread } from "../thread.ts";
import type { LedgerBatch, LedgerQuestion } from "./questions.ts";
import { CANCELLED, RECEIVED } from "./slots.ts";
import type { WorkerAnswer, WorkerQuestion } from "./worker.ts";

/** How long an answer may take, with its wait for a turn, in milliseconds. */
const ANSWER_DEADLINE_MS = 5_000;
/** What the first answer of a thread may take more: the thread is started for it. */
const START_MS = 10_000;
/** Questions that may be under way at once. */
const MAX_QUESTIONS = 64;
/**
 * The memory of the thread, in megabytes. A question that needs more ends the thread, and only
 * that.
 */
const THREAD_HEAP_MB = 256;

/** A question under way. */
interface Waiting {
  readonly found: unknown[];
  take(batch: LedgerBatch): void;
  end(error?: Error): void;
}

/** A thread that starts with the first question, and again with the next one after it died. */
export class LedgerThread {
  readonly #path: string;
  readonly #log: Log;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #hasAnswered = false;
  #lastId = 0;

  constructor(path: string, log: Log) {
    this.#path = path;
    this.#log = log;
  }

  /**
   * The whole answer. Rejects with the signal's reason, with `deadline_exceeded` after five seconds
   * (fifteen while the thread starts), with `overloaded` when too many wait, with `Error` when the
   * file cannot be read.
   */
  ask(question: LedgerQuestion, signal?: AbortSignal): Promise<readonly unknown[]> {
    if (signal?.aborted === true) return Promise.reject(signal.reason as Error);
    if (this.#waiting.size >= MAX_QUESTIONS) {
      const message = "Too many spend reports are being made at once.";
      return Promise.reject(new GatewayError("overloaded", message, { retryAfterMs: 1_000 }));
    }
    const id = ++this.#lastId;
    const shared = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
    const count = (): void => {
      Atomics.add(shared, RECEIVED, 1);
      Atomics.notify(shared, RECEIVED);
    };
    const answered = Promise.withResolvers<readonly unknown[]>();
    const giveUp = (error: Error): void => {
      Atomics.store(shared, CANCELLED, 1);
      count();
      waiting.end(error);
    };
    const onAbort = (): void => giveUp(signal?.reason as Error);
    const deadlineMs = ANSWER_DEADLINE_MS + (this.#hasAnswered ? 0 : START_MS);
    const endWait = waitForAnswer(deadlineMs, () => giveUp(tooLong()));
    const waiting: Waiting = {
      found: [],
      // The next batch is to come in another turn than this one.
      take: (batch) => {
        for (const item of batch) waiting.found.push(item);
        setImmediate(count);
      },
      end: (error) => {
        endWait();
        signal?.removeEventListener("abort", onAbort);
        this.#waiting.delete(id);
        if (error === undefined) answered.resolve(waiting.found);
        else answered.reject(error);
      },
    };
    this.#waiting.set(id, waiting);
    signal?.addEventListener("abort", onAbort, { once: true });
    this.#worker ??= this.#start();
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a window has an origin, a thread has none.
    this.#worker.postMessage({ id, question, shared } satisfies WorkerQuestion);
    return answered.promise;
  }

  /** Ends the thread. Questions under way are rejected. A second call has no effect. */
  async stop(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    this.#rejectAll(new Error("the store is closed"));
    await worker?.terminate();
  }

  #start(): Worker {
    this.#hasAnswered = false;
    const limits = { resourceLimits: { maxOldGenerationSizeMb: THREAD_HEAP_MB } };
    const worker = startThread("ledger/worker", { path: this.#path }, limits);
    worker.unref();
    worker.on("message", (answer: WorkerAnswer) => this.#receive(answer));
    worker.on("error", (error) => this.#fail(worker, error));
    worker.on("exit", () =>
      this.#fail(worker, new Error("the thread that reads the ledger ended")),
    );
    return worker;
  }

  #receive(answer: WorkerAnswer): void {
    this.#hasAnswered = true;
    const waiting = this.#waiting.get(answer.id);
    if (waiting === undefined) return;
    if (answer.kind === "error") {
      waiting.end(errorOf(answer.message, answer.code));
    } else if (answer.kind === "batch") {
      waiting.take(answer.batch);
    } else {
      for (const item of answer.batch) waiting.found.push(item);
      waiting.end();
    }
  }

  #fail(worker: Worker, error: unknown): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    this.#log.error("the thread that reads the ledger ended; the next question starts another", {
      error,
    });
    this.#rejectAll(new Error("the thread that reads the ledger ended", { cause: error }));
  }

  #rejectAll(error: Error): void {
    for (const waiting of this.#waiting.values()) waiting.end(error);
  }
}

/** The error of the other thread: an error that is posted loses its class. */
function errorOf(message: string, code: ErrorCode | undefined): Error {
  return code === undefined
    ? new Error(`the ledger cannot be read: ${message}`)
    : new GatewayError(code, message);
}

function tooLong(): GatewayError {
  return new GatewayError(
    "deadline_exceeded",
    `The spend report was not ready within ${ANSWER_DEADLINE_MS / 1_000} s; ask for fewer days, or for one key or user.`,
  );
}
