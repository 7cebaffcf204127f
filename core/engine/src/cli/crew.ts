/** The crew: the worker processes of one gateway. They are started, mended when they crash, and replaced one by one. */

import cluster, { type Worker } from "node:cluster";
import type { Log, StateDriver } from "@sluice/spec";
import type { WorkerAddress } from "../http/admin/ask-workers.ts";
import { createStateHost } from "../resources/hosted-state.ts";
import { outboxName } from "../resources/outbox-file.ts";
import { Agreement } from "./agreement.ts";
import { CanaryDesk } from "./canary-desk.ts";
import { backOffMs, crowdOf, type CrewOptions, type Hand, hungFields, type RestartResult } from "./crew-parts.ts";
import { Forgetting } from "./forgetting.ts";
import { hire, type Member, refusalOf, StartRefused, tell, type Told } from "./hire.ts";
import { LeftRows } from "./left-rows.ts";
import { Pulse } from "./pulse.ts";
import { Turns } from "./turns.ts";
import type { FixedSettings, ToWorker } from "./worker-messages.ts";

/** A worker that lived so long has recovered from whatever ended the one before. */
const STEADY_MS = 60_000;
/** Beside the drain timeout: for its last rows to reach the store. Who has not ended then never will. */
const END_GRACE_MS = 10_000;

/** The workers. Those in `serving` take requests; others are starting or on their way out. */
export class Crew {
  /** Restarts and edits that are asked for at the admin listener, one at a time. */
  readonly turns = new Turns();
  /** Workers that ended by themselves while they took requests, and those of them that were ended because they stood still. */
  readonly counts = { ends: 0, hung: 0 };
  readonly #size: number;
  readonly #log: Log;
  readonly #state: StateDriver | undefined;
  readonly #fixed: FixedSettings;
  readonly #hands = new Map<Worker, Hand>();
  readonly #left = new LeftRows();
  readonly #canaries = new CanaryDesk(
    () => this.#serving.map(({ worker }) => worker),
    (message) => this.#tellAll(message),
  );
  /** Places that are about to be filled again, and starts of workers for such places that are under way. */
  readonly #mending = new Set<NodeJS.Timeout>();
  readonly #mends = new Set<Promise<void>>();
  readonly #forgetting = new Forgetting();
  readonly #agreement: Agreement;
  readonly #pulse = new Pulse((worker, silentMs) => this.#endHung(worker, silentMs));
  #serving: Member[] = [];
  #askedRestart: Promise<RestartResult> | undefined;
  #isRestarting = false;
  #failures = 0;
  #isStopping = false;
  #onEmpty: (() => void) | undefined;

  constructor({ size, log, state, fixed }: CrewOptions) {
    this.#size = size;
    this.#log = log;
    this.#state = state;
    this.#fixed = fixed;
    const serving = (): readonly Worker[] => this.#serving.map(({ worker }) => worker);
    this.#agreement = new Agreement({ log, serving, tell, isPaused: () => this.#isRestarting });
    // Workers accept by themselves. Handed out by this process, a connection that is on its way to a worker that is killed
    // would neither be served nor closed.
    cluster.schedulingPolicy = cluster.SCHED_NONE;
    cluster.setupPrimary({ serialization: "advanced", stdio: ["inherit", "inherit", "inherit", "ipc", "pipe"] });
  }

  /** The workers that take requests, the oldest first. */
  get serving(): readonly WorkerAddress[] {
    return this.#serving.map((member) => this.#addressOf(member));
  }

  /** Those, and the ones that still finish what they have under way. */
  get alive(): readonly WorkerAddress[] {
    return [...this.#hands.values()].flatMap(({ member }) => (member === undefined ? [] : [this.#addressOf(member)]));
  }

  #addressOf({ number, pid, adminUrl, worker }: Member): WorkerAddress {
    const silentMs = this.#pulse.silentMs(worker);
    const heldBy = this.#hands.get(worker)?.blocked?.at;
    return { number, pid, adminUrl, silentMs, heldBy, differs: this.#agreement.whyNot(worker) };
  }

  /** Whether a worker runs other code: the gateway was upgraded in its place since the supervising process started. */
  runsOtherCodeThan(code: string): boolean {
    return this.#serving.some((member) => member.code !== code);
  }

  /**
   * Starts all. The first one alone: it prepares the data folder for the others, which run what it runs. A restart or an edit that is
   * asked for meanwhile follows. Rejects when one of them cannot start.
   */
  start(leftOutboxes: readonly string[]): Promise<string> {
    return this.turns.take(async () => {
      const first = await this.#hire(false);
      await Promise.all(Array.from({ length: this.#size - 1 }, () => this.#hire(true)));
      const own = new Set(Array.from({ length: this.#size }, (_, index) => outboxName(index + 1)));
      for (const outbox of leftOutboxes) if (!own.has(outbox)) this.#left.add(outbox, this.#serving[0]?.worker);
      return first.publicUrl;
    });
  }

  /** Lets every worker read the configuration again. */
  reload(): void {
    // One that starts may have read the files already.
    for (const worker of this.#hands.keys()) tell(worker, { type: "reload" });
  }

  /**
   * Replaces every worker: each new one serves before the old one retires. One that cannot start ends it. Asked while another
   * restart is under way, it begins after that one: its workers may have read files that changed since. `mayNot` says at its
   * beginning why it may not be, for a person. Never rejects.
   */
  restart(mayNot: () => Promise<string | undefined>): Promise<RestartResult> {
    this.#askedRestart ??= this.turns.take(async () => {
      this.#askedRestart = undefined;
      const reason = await mayNot().catch(() => undefined);
      return reason === undefined ? this.#replaceAll() : this.#refused(0, [reason]);
    });
    return this.#askedRestart;
  }

  /** Resolves once no worker believes any more what it had looked up about keys and teams. */
  forget(): Promise<void> {
    return this.#forgetting.ask([...this.#hands].flatMap(([worker, { member }]) => (member === undefined ? [] : [worker])));
  }

  /** Stops every worker, after what it has under way. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#agreement.close();
    for (const timer of this.#mending) clearTimeout(timer);
    if (this.#hands.size === 0) return;
    const empty = new Promise<void>((resolve) => (this.#onEmpty = resolve));
    for (const worker of this.#hands.keys()) this.#end(worker, "stop");
    await empty;
  }

  /** Ends every worker now. */
  kill(): void {
    this.#isStopping = true;
    for (const worker of this.#hands.keys()) worker.process.kill("SIGKILL");
  }

  async #replaceAll(): Promise<RestartResult> {
    const crowd = crowdOf(this.alive.length - this.#serving.length, this.#size);
    if (crowd !== undefined) return this.#refused(0, [crowd]);
    this.#isRestarting = true;
    let replaced = 0;
    try {
      await Promise.all(this.#mends);
      const old = this.#serving.slice();
      for (; replaced < this.#size; replaced++) {
        await this.#hire(replaced > 0);
        const member = old[replaced];
        // It may have crashed meanwhile.
        if (member === undefined || !this.#serving.includes(member)) continue;
        this.#serving = this.#serving.filter((other) => other !== member);
        this.#end(member.worker, "retire");
      }
    } catch (error) {
      return this.#refused(replaced, refusalOf(error));
    } finally {
      this.#isRestarting = false;
      // Those that ended meanwhile.
      while (this.#serving.length + this.#mending.size < this.#size && !this.#isStopping) this.#mend();
    }
    this.#log.info("every worker was replaced", { workers: this.#size });
    return { outcome: "restarted", replaced, workers: this.#size, reasons: [] };
  }

  #refused(replaced: number, reasons: readonly string[]): RestartResult {
    this.#log.warn("a restart was refused", { replaced, reasons });
    return { outcome: "refused", replaced, workers: this.#size, reasons };
  }

  /** Starts one worker and waits until it serves. Rejects with a StartRefused. */
  async #hire(mustBeNewest: boolean): Promise<Member> {
    if (this.#isStopping) throw new StartRefused(["The gateway stops."]);
    const number = this.#freeNumber();
    return hire({
      assignment: { number, mustBeNewest, othersRun: this.#agreement.newest?.digest, fixed: this.#fixed },
      onFork: (worker) => {
        const host = this.#state === undefined ? undefined : createStateHost(this.#state);
        this.#hands.set(worker, { number, startedMs: performance.now(), host });
      },
      onReady: (member) => {
        const hand = this.#hands.get(member.worker);
        if (hand === undefined) return;
        hand.member = member;
        this.#pulse.follow(member.worker, member.hungTimeoutMs);
        if (this.#isStopping) this.#end(member.worker, "stop");
        else this.#serving.push(member);
        this.#agreement.look(true);
        this.#left.giveTo(member.worker);
      },
      onBlock: (worker, report) => void Object.assign(this.#hands.get(worker) ?? {}, { blocked: report }),
      onMessage: (worker, message) => {
        this.#pulse.heard(worker);
        this.#take(worker, message);
      },
      onEnd: (worker, how) => this.#bury(worker, how),
    });
  }

  #take(worker: Worker, message: Told): void {
    const hand = this.#hands.get(worker);
    if (message.type === "beat") delete hand?.blocked;
    // What it was told before is lost.
    else if (message.type === "hears") void (this.#isStopping && tell(worker, { type: "stop" }));
    else if (message.type === "runs") this.#agreement.runs(worker, message);
    else if (message.type === "not-followed") this.#agreement.refused(worker, message.target, message.reasons);
    else if (message.type === "adopted") this.#left.delete(message.outbox);
    else if (message.type === "forgot") this.#forgetting.has(worker, message.id);
    else if (message.type === "verdict") this.#canaries.take(worker, message.verdict);
    else if (message.type === "went-back") this.#tellAll({ type: "go-back", wentBack: message.wentBack });
    else void hand?.host?.answer(message).then((answer) => tell(worker, answer));
  }

  /** Asks a worker to end, and sees to it. */
  #end(worker: Worker, how: "retire" | "stop"): void {
    const hand = this.#hands.get(worker);
    if (hand === undefined) return;
    tell(worker, { type: how });
    clearTimeout(hand.deadline);
    // One that does not serve yet has nothing to finish.
    const untilMs = (hand.member?.endsWithinMs ?? 0) + END_GRACE_MS;
    hand.deadline = setTimeout(() => {
      this.#log.error("a worker did not end by itself and is killed", { worker: hand.number, pid: worker.process.pid });
      worker.process.kill("SIGKILL");
    }, untilMs);
  }

  /** Its requests cannot end, whatever is waited for. Its rows are in its outbox. */
  #endHung(worker: Worker, silentMs: number): void {
    const hand = this.#hands.get(worker);
    if (hand === undefined) return;
    this.counts.hung++;
    this.#log.error("a worker's event loop stands still; it is ended and replaced", hungFields(hand, worker, silentMs));
    worker.process.kill("SIGKILL");
  }

  #bury(worker: Worker, how: string): void {
    const hand = this.#hands.get(worker);
    if (hand === undefined) return;
    this.#hands.delete(worker);
    this.#pulse.forget(worker);
    this.#agreement.forget(worker);
    clearTimeout(hand.deadline);
    hand.host?.release();
    this.#forgetting.has(worker);
    const served = this.#serving.find((other) => other.worker === worker);
    this.#serving = this.#serving.filter((other) => other !== served);
    if (this.#hands.size === 0) this.#onEmpty?.();
    if (this.#isStopping) return;
    // Its number is free again once its rows, and those that it was to move, are in the store.
    for (const outbox of [outboxName(hand.number), ...this.#left.takeFrom(worker)]) {
      this.#left.add(outbox, this.#serving[0]?.worker);
    }
    if (served === undefined) return;
    this.counts.ends++;
    this.#failures = performance.now() - hand.startedMs > STEADY_MS ? 1 : this.#failures + 1;
    this.#log.error("a worker ended; another takes its place", { worker: hand.number, pid: served.pid, how });
    if (!this.#isRestarting) this.#mend();
  }

  /**
   * Starts a worker in the place of one that crashed, later after each failure. It runs what the others run. Where nobody serves
   * that may be what cannot run: then every second one starts with the files, which may have been mended.
   */
  #mend(mustBeNewest = true): void {
    const fill = async (): Promise<void> => {
      try {
        await this.#hire(mustBeNewest);
      } catch (error) {
        if (this.#isStopping) return;
        this.#failures++;
        this.#log.error("a worker could not be started; it is tried again", { reasons: refusalOf(error) });
        this.#mend(this.#serving.length > 0 || !mustBeNewest);
      }
    };
    const timer = setTimeout(() => {
      this.#mending.delete(timer);
      // A restart fills every place by itself.
      if (this.#isStopping || this.#isRestarting || this.#serving.length + this.#mends.size >= this.#size) return;
      const mend = fill().finally(() => this.#mends.delete(mend));
      this.#mends.add(mend);
    }, backOffMs(this.#failures));
    this.#mending.add(timer);
  }

  #tellAll(message: ToWorker): void {
    for (const { worker } of this.#serving) tell(worker, message);
  }

  #freeNumber(): number {
    const taken = new Set([...this.#hands.values()].map(({ number }) => number));
    let number = 1;
    while (taken.has(number) || this.#left.has(outboxName(number))) number++;
    return number;
  }
}
