/**
 * The supervisor: starts the worker processes of one gateway, respawns crashed ones and replaces
 * them one by one.
 */

import type { Worker } from "node:cluster";
import type { WorkerAddress } from "./admin/ask-workers.ts";
import { createStateHost } from "./shared-state-rpc.ts";
import { outboxName } from "../accounting/outbox/lock-file.ts";
import { GenerationAgreement } from "./generation-agreement.ts";
import { CanaryVotes } from "./canary-votes.ts";
import type { SupervisorOptions } from "./supervisor-parts.ts";
import { KeyCacheInvalidation } from "./key-cache-invalidation.ts";
import { prepareForks, spawnWorker, type Member, StartRefused, send } from "./spawn-worker.ts";
import { OrphanedOutboxes } from "./orphaned-rows.ts";
import { HeartbeatMonitor } from "./heartbeat.ts";
import { Mutex } from "./mutex.ts";
import { Respawns } from "./respawns.ts";
import { type RestartResult, Restarts } from "./restarts.ts";
import { WorkerReports } from "./worker-reports.ts";
import { WorkerTable } from "./worker-table.ts";

/** Supervises the workers. Those in `serving` take requests; others start or end. */
export class Supervisor {
  /** Restarts and edits of the admin listener run one at a time. */
  readonly mutex = new Mutex();
  readonly #options: SupervisorOptions;
  readonly #workers: WorkerTable;
  readonly #respawns: Respawns;
  readonly #restarts: Restarts;
  readonly #agreement: GenerationAgreement;
  readonly #orphaned = new OrphanedOutboxes(() => this.#workers.serving[0]?.worker);
  readonly #keyCaches = new KeyCacheInvalidation();
  readonly #heartbeats = new HeartbeatMonitor((worker, silentMs) =>
    this.#workers.killHung(worker, silentMs),
  );
  readonly #reports: WorkerReports;

  constructor(options: SupervisorOptions) {
    const { log, size, entry } = options;
    this.#options = options;
    const workers = new WorkerTable(size, log);
    const serving = (): readonly Worker[] => workers.serving.map(({ worker }) => worker);
    const spawn = (mustBeNewest: boolean): Promise<Member> => this.#spawn(mustBeNewest);
    const isPaused = (): boolean => this.#restarts.isUnderWay;
    this.#workers = workers;
    this.#respawns = new Respawns({ workers, log, spawn, isPaused });
    const { mutex } = this;
    this.#restarts = new Restarts({ workers, respawns: this.#respawns, mutex, log, spawn });
    this.#agreement = new GenerationAgreement({ log, serving, send, isPaused });
    this.#reports = new WorkerReports({
      workers,
      heartbeats: this.#heartbeats,
      agreement: this.#agreement,
      orphaned: this.#orphaned,
      keyCaches: this.#keyCaches,
      canaryVotes: new CanaryVotes(serving, (message) => workers.sendAll(message)),
    });
    prepareForks(entry);
  }

  /** The workers that take requests, the oldest first. */
  get serving(): readonly WorkerAddress[] {
    return this.#workers.serving.map((member) => this.#addressOf(member));
  }

  /** The serving workers, and those that still finish requests. */
  get alive(): readonly WorkerAddress[] {
    return this.#workers.members.map((member) => this.#addressOf(member));
  }

  /** Workers that ended while they took requests, and those of them that hung. */
  get counts(): WorkerTable["counts"] {
    return this.#workers.counts;
  }

  /** Whether a worker runs other code than this process: the gateway was upgraded since. */
  runsOtherCodeThan(code: string): boolean {
    return this.#workers.serving.some((member) => member.code !== code);
  }

  /**
   * Starts all workers. The first one prepares the data folder; the others run its generation.
   * Rejects when one of them cannot start.
   */
  start(leftOutboxes: readonly string[]): Promise<string> {
    return this.mutex.take(async () => {
      const { size } = this.#workers;
      const first = await this.#spawn(false);
      await Promise.all(Array.from({ length: size - 1 }, () => this.#spawn(true)));
      const own = new Set(Array.from({ length: size }, (_, index) => outboxName(index + 1)));
      for (const outbox of leftOutboxes) if (!own.has(outbox)) this.#orphaned.add(outbox);
      return first.publicUrl;
    });
  }

  /** Lets every worker read the configuration again. */
  reload(): void {
    // A starting worker may have read the files already.
    for (const worker of this.#workers.processes) send(worker, { type: "reload" });
  }

  /** Replaces every worker. `mayNot` returns the reason against it. Never rejects. */
  restart(mayNot: () => Promise<string | undefined>): Promise<RestartResult> {
    return this.#restarts.ask(mayNot);
  }

  /** Resolves once every worker has dropped its cached keys and teams. */
  forget(): Promise<void> {
    return this.#keyCaches.ask(this.#workers.members.map(({ worker }) => worker));
  }

  /** Stops every worker after its requests under way. */
  stop(): Promise<void> {
    this.#agreement.close();
    this.#respawns.close();
    return this.#workers.stop();
  }

  kill(): void {
    this.#workers.kill();
  }

  #addressOf({ number, pid, adminUrl, worker }: Member): WorkerAddress {
    const silentMs = this.#heartbeats.silentMs(worker);
    const heldBy = this.#workers.get(worker)?.blocked?.at;
    return { number, pid, adminUrl, silentMs, heldBy, differs: this.#agreement.whyNot(worker) };
  }

  /** Rejects with a StartRefused. */
  async #spawn(mustBeNewest: boolean): Promise<Member> {
    if (this.#workers.isStopping) throw new StartRefused(["The gateway stops."]);
    const { state, fixed } = this.#options;
    // A number is free once the rows in its outbox are in the store.
    const isTaken = (candidate: number): boolean => this.#orphaned.has(outboxName(candidate));
    const number = this.#workers.freeNumber(isTaken);
    return spawnWorker({
      assignment: { number, mustBeNewest, othersRun: this.#agreement.newest?.digest, fixed },
      onFork: (worker) => {
        const host = state && createStateHost(state);
        this.#workers.add(worker, { number, startedMs: performance.now(), host });
      },
      onReady: (member) => {
        if (this.#workers.get(member.worker) === undefined) return;
        this.#heartbeats.follow(member.worker, member.hungTimeoutMs);
        this.#workers.ready(member);
        this.#agreement.look(true);
        this.#orphaned.giveTo(member.worker);
      },
      onBlock: (worker, report) =>
        void Object.assign(this.#workers.get(worker) ?? {}, { blocked: report }),
      onMessage: (worker, message) => this.#reports.take(worker, message),
      onEnd: (worker, how) => this.#onExit(worker, how),
    });
  }

  #onExit(worker: Worker, how: string): void {
    const state = this.#workers.get(worker);
    if (state === undefined) return;
    this.#heartbeats.forget(worker);
    this.#agreement.forget(worker);
    this.#keyCaches.has(worker);
    const served = this.#workers.remove(worker);
    if (this.#workers.isStopping) return;
    for (const outbox of [outboxName(state.number), ...this.#orphaned.takeFrom(worker)])
      this.#orphaned.add(outbox);
    if (served === undefined) return;
    this.#respawns.countEnd(performance.now() - state.startedMs);
    const ended = { worker: state.number, pid: served.pid, how };
    this.#options.log.error("a worker ended; another takes its place", ended);
    if (!this.#restarts.isUnderWay) this.#respawns.begin();
  }
}
