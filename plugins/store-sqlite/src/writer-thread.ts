/**
 * Writes in a thread of its own: while another process locks the file, the thread waits, and the
 * gateway serves.
 */

import type { AuditEntry, Log } from "@sluice/contract";
import { GatewayError } from "@sluice/contract";
import type { Worker } from "node:worker_threads";
import type { SQLInputValue } from "node:sqlite";
import { locked, type RunTransaction, type StatementResult } from "./statements.ts";
import { isBusy } from "./open-database.ts";
import type { LedgerValues } from "./ledger/sums/amounts.ts";
import { startThread } from "./thread.ts";
import type { WriterAnswer, WriterQuestion, WriterTask } from "./writer-worker.ts";

/**
 * How long a change may take, with its wait for a lock and for those before it, in milliseconds.
 */
const CHANGE_DEADLINE_MS = 12_000;
/** How long many rows may take: the ledger waits for them, and no client does. */
const INSERT_DEADLINE_MS = 60_000;
/** Writes that may wait at once. */
const MAX_WAITING = 256;
const STOP_MS = 2_000;
/** What a write allocates is small. */
const YOUNG_MB = 4;
/** The thread ends after so many milliseconds without a write: it has 10 MB. */
const IDLE_MS = 10_000;

interface Waiting {
  readonly answered: PromiseWithResolvers<readonly StatementResult[]>;
  readonly timer: NodeJS.Timeout;
}

/**
 * A thread that starts with the first write, and again with the next one after it idled or died. It
 * never makes the file.
 */
export class WriterThread {
  readonly #file: string;
  readonly #synchronous: string;
  readonly #log: Log;
  readonly #idleMs: number;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;
  #lastId = 0;

  /** `idleMs`: how long the thread is kept without a write. */
  constructor(file: string, synchronous: string, log: Log, idleMs = IDLE_MS) {
    this.#idleMs = idleMs;
    this.#file = file;
    this.#synchronous = synchronous;
    this.#log = log;
  }

  /**
   * Inserts rows of the ledger in one transaction: all or none. Returns how many were left out.
   * Rejects with `Error`.
   */
  async insert(rows: readonly LedgerValues[]): Promise<number> {
    const [result] = await this.#ask({ kind: "insert", rows });
    return result?.changes ?? 0;
  }

  /**
   * Runs one statement. Rejects with `overloaded` while the file is locked, else with an `Error`
   * that has SQLite's `errcode`.
   */
  async run(sql: string, parameters: readonly SQLInputValue[]): Promise<StatementResult> {
    const [result] = await this.#ask({ kind: "statement", sql, parameters });
    return result ?? { rows: [], changes: 0 };
  }

  /** Runs statements in one transaction, and rejects as `run` does: all have an effect, or none. */
  transact(
    statements: Parameters<RunTransaction>[0],
    audit?: AuditEntry,
  ): Promise<readonly StatementResult[]> {
    return this.#ask({ kind: "transaction", statements, audit });
  }

  /**
   * Ends the thread and its connection. Writes under way are rejected. A second call has no effect.
   */
  async stop(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    clearTimeout(this.#idle);
    this.#rejectAll(new Error("the store is closed"));
    if (worker === undefined) return;
    const ended = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
    worker.ref();
    post(worker, { id: 0, task: { kind: "end" } });
    const timer = setTimeout(() => void worker.terminate(), STOP_MS);
    await ended;
    clearTimeout(timer);
  }

  #ask(task: WriterTask): Promise<readonly StatementResult[]> {
    if (this.#waiting.size >= MAX_WAITING) {
      return Promise.reject(
        new GatewayError("overloaded", "Too many changes wait for the store.", {
          retryAfterMs: 1_000,
        }),
      );
    }
    const id = ++this.#lastId;
    const answered = Promise.withResolvers<readonly StatementResult[]>();
    const deadlineMs = task.kind === "insert" ? INSERT_DEADLINE_MS : CHANGE_DEADLINE_MS;
    const timer = setTimeout(() => {
      this.#end(id)?.answered.reject(
        locked(new Error(`the store did not write within ${deadlineMs} ms`)),
      );
    }, deadlineMs);
    this.#waiting.set(id, { answered, timer });
    clearTimeout(this.#idle);
    this.#worker ??= this.#start();
    post(this.#worker, { id, task });
    return answered.promise;
  }

  #start(): Worker {
    const data = { file: this.#file, synchronous: this.#synchronous };
    const worker = startThread("writer-worker", data, {
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
    });
    // The timers of what waits keep the process alive.
    worker.unref();
    worker.on("message", (answer: WriterAnswer) => this.#receive(answer));
    worker.on("error", (error) => this.#fail(worker, error));
    worker.on("exit", () =>
      this.#fail(worker, new Error("the thread that writes to the store ended")),
    );
    return worker;
  }

  #receive(answer: WriterAnswer): void {
    const waiting = this.#end(answer.id);
    if (waiting === undefined) return;
    if (answer.kind === "done") waiting.answered.resolve(answer.results);
    else {
      const error = Object.assign(new Error(answer.message), { errcode: answer.errcode });
      waiting.answered.reject(isBusy(error) ? locked(error) : error);
    }
  }

  #end(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    clearTimeout(waiting?.timer);
    this.#waiting.delete(id);
    clearTimeout(this.#idle);
    if (this.#waiting.size === 0)
      this.#idle = setTimeout(() => this.#endIdle(), this.#idleMs).unref();
    return waiting;
  }

  /** Ends the thread behind what it was given, as a write whose answer came too late. */
  #endIdle(): void {
    const worker = this.#worker;
    this.#worker = undefined;
    if (worker !== undefined) post(worker, { id: 0, task: { kind: "end" } });
  }

  #fail(worker: Worker, error: unknown): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    this.#log.error("the thread that writes to the store ended; the next write starts another", {
      error,
    });
    this.#rejectAll(new Error("the thread that writes to the store ended", { cause: error }));
  }

  #rejectAll(error: Error): void {
    for (const id of this.#waiting.keys()) this.#end(id)?.answered.reject(error);
  }
}

function post(worker: Worker, question: WriterQuestion): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a window has an origin, a thread has none.
  worker.postMessage(question);
}
