/** The worker processes of a gateway: which exist, which take requests, and how each ends. */

import type { Worker } from "node:cluster";
import type { Log } from "@sluice/contract";
import { type Member, send } from "./spawn-worker.ts";
import { hungFields, type WorkerState } from "./supervisor-parts.ts";
import type { ToWorker } from "./worker-messages.ts";

/**
 * Added to the drain timeout, for the last rows to reach the store. After it a worker is killed.
 */
const END_GRACE_MS = 10_000;

/**
 * The workers of one gateway. A worker starts, serves, and ends; while the table stops, a worker
 * that is ready ends at once.
 */
export class WorkerTable {
  /** The intended number of serving workers. */
  readonly size: number;
  /**
   * Workers that ended while they took requests, and those of them that were killed because their
   * event loop was blocked.
   */
  readonly counts = { ends: 0, hung: 0 };
  readonly #log: Log;
  readonly #states = new Map<Worker, WorkerState>();
  #serving: readonly Member[] = [];
  #isStopping = false;
  #onEmpty: (() => void) | undefined;

  constructor(size: number, log: Log) {
    this.size = size;
    this.#log = log;
  }

  /** The workers that take requests, the oldest first. */
  get serving(): readonly Member[] {
    return this.#serving;
  }

  /** The serving workers, and those that still finish requests. */
  get members(): readonly Member[] {
    return [...this.#states.values()].flatMap(({ member }) =>
      member === undefined ? [] : [member],
    );
  }

  /** Every process, including those that do not serve yet. */
  get processes(): readonly Worker[] {
    return [...this.#states.keys()];
  }

  /** Whether all workers are to end: none is started any more. */
  get isStopping(): boolean {
    return this.#isStopping;
  }

  get(worker: Worker): WorkerState | undefined {
    return this.#states.get(worker);
  }

  add(worker: Worker, state: WorkerState): void {
    this.#states.set(worker, state);
  }

  /** Takes a worker that can serve. */
  ready(member: Member): void {
    const state = this.#states.get(member.worker);
    if (state === undefined) return;
    state.member = member;
    if (this.#isStopping) this.#end(member.worker, "stop");
    else this.#serving = [...this.#serving, member];
  }

  /**
   * Ends a worker after its requests under way. It gets no new ones. A worker that no longer serves
   * stays as it is.
   */
  retire(member: Member): void {
    if (!this.#serving.includes(member)) return;
    this.#serving = this.#serving.filter((other) => other !== member);
    this.#end(member.worker, "retire");
  }

  /** Removes an ended worker. Returns what it was where it took requests. */
  remove(worker: Worker): Member | undefined {
    const state = this.#states.get(worker);
    this.#states.delete(worker);
    clearTimeout(state?.deadline);
    state?.host?.release();
    const served = this.#serving.find((member) => member.worker === worker);
    this.#serving = this.#serving.filter((member) => member !== served);
    if (served !== undefined && !this.#isStopping) this.counts.ends++;
    if (this.#states.size === 0) this.#onEmpty?.();
    return served;
  }

  /**
   * Kills a worker whose event loop is blocked: its requests cannot end. Its rows are in its
   * outbox.
   */
  killHung(worker: Worker, silentMs: number): void {
    const state = this.#states.get(worker);
    if (state === undefined) return;
    this.counts.hung++;
    this.#log.error(
      "a worker's event loop is blocked; it is ended and replaced",
      hungFields(state, worker, silentMs),
    );
    worker.process.kill("SIGKILL");
  }

  /** Stops every worker after its requests under way. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    if (this.#states.size === 0) return;
    const empty = new Promise<void>((resolve) => (this.#onEmpty = resolve));
    for (const worker of this.#states.keys()) this.#end(worker, "stop");
    await empty;
  }

  /** Kills every worker. */
  kill(): void {
    this.#isStopping = true;
    for (const worker of this.#states.keys()) worker.process.kill("SIGKILL");
  }

  /** Sends a message to every serving worker. */
  sendAll(message: ToWorker): void {
    for (const { worker } of this.#serving) send(worker, message);
  }

  /** The lowest number that neither a process has nor `isTaken` refuses. */
  freeNumber(isTaken: (number: number) => boolean): number {
    const taken = new Set([...this.#states.values()].map(({ number }) => number));
    let number = 1;
    while (taken.has(number) || isTaken(number)) number++;
    return number;
  }

  /** Asks a worker to end, and kills it after its deadline. */
  #end(worker: Worker, how: "retire" | "stop"): void {
    const state = this.#states.get(worker);
    if (state === undefined) return;
    send(worker, { type: how });
    clearTimeout(state.deadline);
    // A worker that does not serve yet has nothing to finish.
    const untilMs = (state.member?.endsWithinMs ?? 0) + END_GRACE_MS;
    state.deadline = setTimeout(() => {
      this.#log.error("a worker did not end by itself and is killed", {
        worker: state.number,
        pid: worker.process.pid,
      });
      worker.process.kill("SIGKILL");
    }, untilMs);
  }
}
