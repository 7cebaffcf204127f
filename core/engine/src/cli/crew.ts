/** The crew: the worker processes of one gateway. They are started, mended when they crash, and replaced one by one. */

import cluster, { type Worker } from "node:cluster";
import type { Log, StateDriver } from "@sluice/spec";
import type { WorkerAddress } from "../http/admin/workers.ts";
import { answerState } from "../resources/hosted-state.ts";
import { outboxName } from "../resources/outbox-file.ts";
import { type FromWorker, NEWEST_VARIABLE, type ToWorker, WORKER_VARIABLE } from "./worker-messages.ts";

/** What a crew needs. */
export interface CrewOptions {
  /** How many workers serve. */
  readonly size: number;
  readonly log: Log;
  /** The state that all of them share in this process's memory; `undefined` where a server holds it. */
  readonly state: StateDriver | undefined;
}

/** How a restart went. */
export interface RestartResult {
  readonly outcome: "restarted" | "refused";
  readonly replaced: number;
  readonly workers: number;
  readonly reasons: readonly string[];
}

interface Member extends WorkerAddress {
  readonly worker: Worker;
  readonly publicUrl: string;
}

const READY_TIMEOUT_MS = 60_000;
const MIN_BACK_OFF_MS = 100;
const MAX_BACK_OFF_MS = 30_000;
/** A worker that lived so long has recovered from whatever ended the one before. */
const STEADY_MS = 60_000;

/** The workers. Those in `serving` take requests; others are starting or on their way out. */
export class Crew {
  readonly #size: number;
  readonly #log: Log;
  readonly #state: StateDriver | undefined;
  #serving: Member[] = [];
  /** Numbers that somebody uses: a living worker, or one that moves the rows that another left. */
  readonly #taken = new Set<number>();
  readonly #alive = new Set<Worker>();
  readonly #mending = new Set<NodeJS.Timeout>();
  #restarting: Promise<RestartResult> | undefined;
  #failures = 0;
  #isStopping = false;
  #onEmpty: (() => void) | undefined;

  constructor({ size, log, state }: CrewOptions) {
    this.#size = size;
    this.#log = log;
    this.#state = state;
    // Workers accept by themselves. Handed out by this process, a connection that is on its way to a worker that is killed
    // would neither be served nor closed.
    cluster.schedulingPolicy = cluster.SCHED_NONE;
    cluster.setupPrimary({ serialization: "advanced" });
  }

  /** The workers that take requests, the oldest first. */
  get serving(): readonly WorkerAddress[] {
    return this.#serving;
  }

  /** Starts all. The first one alone: it prepares the data folder for the others. Rejects when one of them cannot start. */
  async start(leftOutboxes: readonly string[]): Promise<string> {
    const first = await this.#hire(false);
    await Promise.all(Array.from({ length: this.#size - 1 }, () => this.#hire(false)));
    const own = new Set(Array.from({ length: this.#size }, (_, index) => outboxName(index + 1)));
    for (const outbox of leftOutboxes) {
      if (own.has(outbox)) continue;
      this.#taken.add(Number(/\d+/.exec(outbox)?.[0] ?? 1));
      tell(first.worker, { type: "adopt", outbox });
    }
    return first.publicUrl;
  }

  /** Lets every worker read the configuration again. */
  reload(): void {
    for (const { worker } of this.#serving) tell(worker, { type: "reload" });
  }

  /** Replaces every worker: each new one serves before the old one retires. One that cannot start changes nothing any more. */
  restart(): Promise<RestartResult> {
    this.#restarting ??= this.#replaceAll().finally(() => (this.#restarting = undefined));
    return this.#restarting;
  }

  /** Stops every worker, after what it has under way. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    for (const timer of this.#mending) clearTimeout(timer);
    if (this.#alive.size === 0) return;
    const empty = new Promise<void>((resolve) => (this.#onEmpty = resolve));
    for (const worker of this.#alive) tell(worker, { type: "stop" });
    await empty;
  }

  /** Ends every worker now. */
  kill(): void {
    this.#isStopping = true;
    for (const worker of this.#alive) worker.process.kill("SIGKILL");
  }

  async #replaceAll(): Promise<RestartResult> {
    const old = this.#serving.slice();
    const result = { workers: old.length, reasons: [] };
    for (const [replaced, member] of old.entries()) {
      try {
        const next = await this.#hire(false);
        if (next.publicUrl !== member.publicUrl) {
          this.#serving = this.#serving.filter((other) => other !== next);
          tell(next.worker, { type: "stop" });
          throw new StartRefused(["server.host and server.port need a stop and a start of the whole gateway."]);
        }
      } catch (error) {
        const reasons = error instanceof StartRefused ? error.reasons : [String(error)];
        this.#log.warn("a restart was refused: the new worker did not start", { replaced, reasons });
        return { ...result, outcome: "refused", replaced, reasons };
      }
      this.#serving = this.#serving.filter((other) => other !== member);
      tell(member.worker, { type: "retire" });
    }
    this.#log.info("every worker was replaced", { workers: old.length });
    return { ...result, outcome: "restarted", replaced: old.length };
  }

  /** Starts one worker and waits until it serves. Rejects with a StartRefused. */
  #hire(mustBeNewest: boolean): Promise<Member> {
    const number = this.#freeNumber();
    this.#taken.add(number);
    const worker = cluster.fork({ [WORKER_VARIABLE]: String(number), [NEWEST_VARIABLE]: mustBeNewest ? "1" : "" });
    this.#alive.add(worker);
    const startedMs = performance.now();
    return new Promise((resolve, reject) => {
      const refuse = (reasons: readonly string[]): void => {
        clearTimeout(timer);
        reject(new StartRefused(reasons));
      };
      const timer = setTimeout(() => {
        worker.process.kill("SIGKILL");
        refuse([`The worker was not ready within ${READY_TIMEOUT_MS / 1_000} s.`]);
      }, READY_TIMEOUT_MS);
      worker.on("message", (message: FromWorker) => {
        if (message.type === "ready") {
          clearTimeout(timer);
          const { publicUrl, adminUrl } = message;
          const member = { number, pid: worker.process.pid ?? 0, publicUrl, adminUrl, worker };
          this.#serving.push(member);
          resolve(member);
        } else if (message.type === "failed") refuse(message.reasons);
        else if (message.type === "adopted") this.#release(message.outbox);
        else if (this.#state !== undefined) void answerState(this.#state, message).then((answer) => tell(worker, answer));
      });
      worker.on("exit", (code, signal) => {
        refuse([`The worker ended with ${signal ?? `code ${code}`} before it was ready.`]);
        this.#bury(worker, number, signal ?? code, performance.now() - startedMs);
      });
    });
  }

  #bury(worker: Worker, number: number, how: string | number, livedMs: number): void {
    this.#alive.delete(worker);
    const member = this.#serving.find((other) => other.worker === worker);
    this.#serving = this.#serving.filter((other) => other !== member);
    if (this.#alive.size === 0) this.#onEmpty?.();
    if (this.#isStopping) return;
    if (member === undefined) {
      // It retired or never served. What it could not move, another does.
      const [heir] = this.#serving;
      if (heir === undefined) this.#taken.delete(number);
      else tell(heir.worker, { type: "adopt", outbox: outboxName(number) });
      return;
    }
    this.#taken.delete(number);
    this.#failures = livedMs > STEADY_MS ? 1 : this.#failures + 1;
    this.#log.error("a worker ended; another takes its place", { worker: number, pid: member.pid, how });
    this.#mend();
  }

  /** Starts a worker in the place of one that crashed, later after each failure. It runs what the others run. */
  #mend(): void {
    const backOffMs = Math.min(MAX_BACK_OFF_MS, MIN_BACK_OFF_MS * 2 ** Math.min(this.#failures - 1, 20));
    const timer = setTimeout(
      () => {
        this.#mending.delete(timer);
        if (this.#isStopping) return;
        this.#hire(true).catch((error: unknown) => {
          if (this.#isStopping) return;
          this.#failures++;
          const reasons = error instanceof StartRefused ? error.reasons : [String(error)];
          this.#log.error("a worker could not be started; it is tried again", { reasons });
          this.#mend();
        });
      },
      backOffMs * (0.5 + Math.random() / 2),
    );
    this.#mending.add(timer);
  }

  #freeNumber(): number {
    let number = 1;
    while (this.#taken.has(number)) number++;
    return number;
  }

  #release(outbox: string): void {
    for (const number of this.#taken) if (outboxName(number) === outbox) this.#taken.delete(number);
  }
}

/** A worker that did not come to serve. */
export class StartRefused extends Error {
  readonly reasons: readonly string[];

  constructor(reasons: readonly string[]) {
    super(reasons.join("\n"));
    this.reasons = reasons;
  }
}

function tell(worker: Worker, message: ToWorker): void {
  // It may be on its way out: its end is told by itself.
  if (worker.isConnected()) worker.send(message, undefined, {}, () => undefined);
}
