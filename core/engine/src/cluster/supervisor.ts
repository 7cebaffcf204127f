/** The supervisor: starts the worker processes of one gateway, respawns crashed ones and replaces them one by one. */

import type { Worker } from "node:cluster";
import type { WorkerAddress } from "./admin/ask-workers.ts";
import { createStateHost } from "./shared-state-rpc.ts";
import { outboxName } from "../accounting/outbox/file.ts";
import { GenerationAgreement } from "./generation-agreement.ts";
import { CanaryVotes } from "./canary-votes.ts";
import {
  backOffMs,
  tooManyLeaving,
  type SupervisorOptions,
  type WorkerState,
  hungFields,
  type RestartResult,
} from "./supervisor-parts.ts";
import { KeyCacheInvalidation } from "./key-cache-invalidation.ts";
import { prepareForks, spawnWorker, type Member, refusalOf, StartRefused, send, type WorkerReport } from "./spawn-worker.ts";
import { OrphanedOutboxes } from "./orphaned-rows.ts";
import { HeartbeatMonitor } from "./heartbeat.ts";
import { Mutex } from "./mutex.ts";
import type { ToWorker } from "./worker-messages.ts";

/** A worker that has run for this time resets the backoff. */
const STEADY_MS = 60_000;
/** Added to the drain timeout, for the last rows to reach the store. After it a worker is killed. */
const END_GRACE_MS = 10_000;

/** Supervises the workers. Those in `serving` take requests; others start or end. */
export class Supervisor {
  /** Restarts and edits of the admin listener run one at a time. */
  readonly mutex = new Mutex();
  /** Workers that ended while they took requests, and those of them that were killed because their event loop was blocked. */
  readonly counts = { ends: 0, hung: 0 };
  readonly #options: SupervisorOptions;
  readonly #workers = new Map<Worker, WorkerState>();
  readonly #orphaned = new OrphanedOutboxes();
  readonly #canaryVotes = new CanaryVotes(
    () => this.#serving.map(({ worker }) => worker),
    (message) => this.#sendAll(message),
  );
  /** Backoff timers before a respawn, and respawns under way. */
  readonly #respawnTimers = new Set<NodeJS.Timeout>();
  readonly #respawns = new Set<Promise<void>>();
  readonly #keyCaches = new KeyCacheInvalidation();
  readonly #agreement: GenerationAgreement;
  readonly #heartbeats = new HeartbeatMonitor((worker, silentMs) => this.#endHung(worker, silentMs));
  #serving: Member[] = [];
  #askedRestart: Promise<RestartResult> | undefined;
  #isRestarting = false;
  #failures = 0;
  #isStopping = false;
  #onEmpty: (() => void) | undefined;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    const serving = (): readonly Worker[] => this.#serving.map(({ worker }) => worker);
    this.#agreement = new GenerationAgreement({ log: options.log, serving, send, isPaused: () => this.#isRestarting });
    prepareForks(options.entry);
  }

  /** The workers that take requests, the oldest first. */
  get serving(): readonly WorkerAddress[] {
    return this.#serving.map((member) => this.#addressOf(member));
  }

  /** The serving workers, and those that still finish requests. */
  get alive(): readonly WorkerAddress[] {
    return [...this.#workers.values()].flatMap(({ member }) => (member === undefined ? [] : [this.#addressOf(member)]));
  }

  #addressOf({ number, pid, adminUrl, worker }: Member): WorkerAddress {
    const [silentMs, heldBy] = [this.#heartbeats.silentMs(worker), this.#workers.get(worker)?.blocked?.at];
    return { number, pid, adminUrl, silentMs, heldBy, differs: this.#agreement.whyNot(worker) };
  }

  /** Whether a worker runs other code than this process: the gateway was upgraded since. */
  runsOtherCodeThan(code: string): boolean {
    return this.#serving.some((member) => member.code !== code);
  }

  /**
   * Starts all workers. The first one prepares the data folder; the others run its generation. Restarts and edits wait until all
   * serve. Rejects when one of them cannot start.
   */
  start(leftOutboxes: readonly string[]): Promise<string> {
    return this.mutex.take(async () => {
      const first = await this.#spawn(false);
      await Promise.all(Array.from({ length: this.#options.size - 1 }, () => this.#spawn(true)));
      const own = new Set(Array.from({ length: this.#options.size }, (_, index) => outboxName(index + 1)));
      for (const outbox of leftOutboxes) if (!own.has(outbox)) this.#orphaned.add(outbox, this.#serving[0]?.worker);
      return first.publicUrl;
    });
  }

  /** Lets every worker read the configuration again. */
  reload(): void {
    // A starting worker may have read the files already.
    for (const worker of this.#workers.keys()) send(worker, { type: "reload" });
  }

  /**
   * Replaces every worker: each new one serves before the old one retires. A failed start ends the restart. A restart that is asked
   * for during another one begins after it. `mayNot` returns the reason why the restart may not begin. Never rejects.
   */
  restart(mayNot: () => Promise<string | undefined>): Promise<RestartResult> {
    this.#askedRestart ??= this.mutex.take(async () => {
      this.#askedRestart = undefined;
      const reason = await mayNot().catch(() => undefined);
      return reason === undefined ? this.#replaceAll() : this.#refused(0, [reason]);
    });
    return this.#askedRestart;
  }

  /** Resolves once every worker has dropped its cached keys and teams. */
  forget(): Promise<void> {
    return this.#keyCaches.ask([...this.#workers].flatMap(([worker, { member }]) => (member === undefined ? [] : [worker])));
  }

  /** Stops every worker after its requests under way. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#agreement.close();
    for (const timer of this.#respawnTimers) clearTimeout(timer);
    if (this.#workers.size === 0) return;
    const empty = new Promise<void>((resolve) => (this.#onEmpty = resolve));
    for (const worker of this.#workers.keys()) this.#end(worker, "stop");
    await empty;
  }

  /** Kills every worker. */
  kill(): void {
    this.#isStopping = true;
    for (const worker of this.#workers.keys()) worker.process.kill("SIGKILL");
  }

  async #replaceAll(): Promise<RestartResult> {
    const leaving = tooManyLeaving(this.alive.length - this.#serving.length, this.#options.size);
    if (leaving !== undefined) return this.#refused(0, [leaving]);
    this.#isRestarting = true;
    let replaced = 0;
    try {
      await Promise.all(this.#respawns);
      const old = this.#serving.slice();
      for (; replaced < this.#options.size; replaced++) {
        await this.#spawn(replaced > 0);
        const member = old[replaced];
        // The worker may have crashed meanwhile.
        if (member === undefined || !this.#serving.includes(member)) continue;
        this.#serving = this.#serving.filter((other) => other !== member);
        this.#end(member.worker, "retire");
      }
    } catch (error) {
      return this.#refused(replaced, refusalOf(error));
    } finally {
      this.#isRestarting = false;
      // Respawns workers that ended meanwhile.
      while (this.#serving.length + this.#respawnTimers.size < this.#options.size && !this.#isStopping) this.#respawn();
    }
    this.#options.log.info("every worker was replaced", { workers: this.#options.size });
    return { outcome: "restarted", replaced, workers: this.#options.size, reasons: [] };
  }

  #refused(replaced: number, reasons: readonly string[]): RestartResult {
    this.#options.log.warn("a restart was refused", { replaced, reasons });
    return { outcome: "refused", replaced, workers: this.#options.size, reasons };
  }

  /** Starts one worker and waits until it serves. Rejects with a StartRefused. */
  async #spawn(mustBeNewest: boolean): Promise<Member> {
    if (this.#isStopping) throw new StartRefused(["The gateway stops."]);
    const number = this.#freeNumber();
    return spawnWorker({
      assignment: { number, mustBeNewest, othersRun: this.#agreement.newest?.digest, fixed: this.#options.fixed },
      onFork: (worker) => {
        const host = this.#options.state === undefined ? undefined : createStateHost(this.#options.state);
        this.#workers.set(worker, { number, startedMs: performance.now(), host });
      },
      onReady: (member) => {
        const state = this.#workers.get(member.worker);
        if (state === undefined) return;
        state.member = member;
        this.#heartbeats.follow(member.worker, member.hungTimeoutMs);
        if (this.#isStopping) this.#end(member.worker, "stop");
        else this.#serving.push(member);
        this.#agreement.look(true);
        this.#orphaned.giveTo(member.worker);
      },
      onBlock: (worker, report) => void Object.assign(this.#workers.get(worker) ?? {}, { blocked: report }),
      onMessage: (worker, message) => {
        this.#heartbeats.heard(worker);
        this.#take(worker, message);
      },
      onEnd: (worker, how) => this.#onExit(worker, how),
    });
  }

  #take(worker: Worker, message: WorkerReport): void {
    const state = this.#workers.get(worker);
    if (message.type === "beat") delete state?.blocked;
    // Earlier messages to it are lost.
    else if (message.type === "hears") void (this.#isStopping && send(worker, { type: "stop" }));
    else if (message.type === "runs") this.#agreement.runs(worker, message);
    else if (message.type === "not-followed") this.#agreement.refused(worker, message.target, message.reasons);
    else if (message.type === "adopted") this.#orphaned.delete(message.outbox);
    else if (message.type === "forgot") this.#keyCaches.has(worker, message.id);
    else if (message.type === "verdict") this.#canaryVotes.take(worker, message.verdict);
    else if (message.type === "rolled-back") this.#sendAll({ type: "roll-back", notice: message.notice });
    else void state?.host?.answer(message).then((answer) => send(worker, answer));
  }

  /** Asks a worker to end, and kills it after its deadline. */
  #end(worker: Worker, how: "retire" | "stop"): void {
    const state = this.#workers.get(worker);
    if (state === undefined) return;
    send(worker, { type: how });
    clearTimeout(state.deadline);
    // A worker that does not serve yet has nothing to finish.
    const untilMs = (state.member?.endsWithinMs ?? 0) + END_GRACE_MS;
    state.deadline = setTimeout(() => {
      this.#options.log.error("a worker did not end by itself and is killed", { worker: state.number, pid: worker.process.pid });
      worker.process.kill("SIGKILL");
    }, untilMs);
  }

  /** Kills a worker whose event loop is blocked: its requests cannot end. Its rows are in its outbox. */
  #endHung(worker: Worker, silentMs: number): void {
    const state = this.#workers.get(worker);
    if (state === undefined) return;
    this.counts.hung++;
    this.#options.log.error("a worker's event loop is blocked; it is ended and replaced", hungFields(state, worker, silentMs));
    worker.process.kill("SIGKILL");
  }

  #onExit(worker: Worker, how: string): void {
    const state = this.#workers.get(worker);
    if (state === undefined) return;
    this.#workers.delete(worker);
    this.#heartbeats.forget(worker);
    this.#agreement.forget(worker);
    clearTimeout(state.deadline);
    state.host?.release();
    this.#keyCaches.has(worker);
    const served = this.#serving.find((other) => other.worker === worker);
    this.#serving = this.#serving.filter((other) => other !== served);
    if (this.#workers.size === 0) this.#onEmpty?.();
    if (this.#isStopping) return;
    // Its number is free once its rows, and the orphaned rows it moved, are in the store.
    for (const outbox of [outboxName(state.number), ...this.#orphaned.takeFrom(worker)]) {
      this.#orphaned.add(outbox, this.#serving[0]?.worker);
    }
    if (served === undefined) return;
    this.counts.ends++;
    this.#failures = performance.now() - state.startedMs > STEADY_MS ? 1 : this.#failures + 1;
    this.#options.log.error("a worker ended; another takes its place", { worker: state.number, pid: served.pid, how });
    if (!this.#isRestarting) this.#respawn();
  }

  /**
   * Starts a worker in the place of a crashed one, with a backoff. It runs the generation of the others. Where no worker serves,
   * that generation may be the cause: then every second one starts with the files, which may have been corrected.
   */
  #respawn(mustBeNewest = true): void {
    const fill = async (): Promise<void> => {
      try {
        await this.#spawn(mustBeNewest);
      } catch (error) {
        if (this.#isStopping) return;
        this.#failures++;
        this.#options.log.error("a worker could not be started; it is tried again", { reasons: refusalOf(error) });
        this.#respawn(this.#serving.length > 0 || !mustBeNewest);
      }
    };
    const timer = setTimeout(() => {
      this.#respawnTimers.delete(timer);
      // A restart starts all workers itself.
      if (this.#isStopping || this.#isRestarting || this.#serving.length + this.#respawns.size >= this.#options.size) return;
      const respawn = fill().finally(() => this.#respawns.delete(respawn));
      this.#respawns.add(respawn);
    }, backOffMs(this.#failures));
    this.#respawnTimers.add(timer);
  }

  #sendAll(message: ToWorker): void {
    for (const { worker } of this.#serving) send(worker, message);
  }

  #freeNumber(): number {
    const taken = new Set([...this.#workers.values()].map(({ number }) => number));
    let number = 1;
    while (taken.has(number) || this.#orphaned.has(outboxName(number))) number++;
    return number;
  }
}
