/**
 * The leader of the processes that share a store: it holds a lease and runs the jobs of the store.
 * Serving never waits for it.
 */

import {
  errorMessage,
  type Clock,
  type JobContext,
  type Lease,
  type Log,
  type Store,
  type StoreJob,
} from "@sluice/contract";
import { within } from "@sluice/kit";
import { type JobNotes, readNotes, writeNotes } from "./leader-notes.ts";

const LEASE = "leader";
/** How often a process without leases looks for jobs that are due. */
const LOOK_MS = 5_000;
/** A lease lasts so many times its renewal: a process that is killed is replaced after that. */
const RENEWALS = 4;
/** A leader gives up one renewal before its lease ends: clocks may run at different speeds. */
const OWN_RENEWALS = 3;
const RETRY_JOB_MS = 60_000;
const STOP_MS = 2_000;

/** The parts of a leader. */
export interface LeaderParts {
  readonly store: Pick<Store, "leases" | "jobs">;
  /** Names this process among all that share the store. */
  readonly holder: string;
  readonly keepLedgerMs: () => number | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** Who leads, and what it did. */
export interface LeaderView {
  readonly isLeading: boolean;
  /** Empty: no process is known to lead. */
  readonly holder: string;
  /** Milliseconds since 1970. */
  readonly sinceMs: number;
  readonly jobs: JobNotes;
}

/** One process that may lead. Without leases it is the only one, and always leads. */
export class Leader {
  readonly #parts: LeaderParts;
  readonly #jobs: readonly StoreJob[];
  #timer: NodeJS.Timeout | undefined;
  #taking: Promise<void> | undefined;
  #working: Promise<void> | undefined;
  #isStopped = true;
  #lease: Omit<Lease, "notes" | "untilMs"> = { holder: "", sinceMs: 0 };
  #notes: JobNotes = {};
  /** Until when this process leads, monotonic. */
  #leadsUntilMs = -Infinity;
  #ending = new AbortController();

  constructor(parts: LeaderParts) {
    this.#parts = parts;
    this.#jobs = parts.store.jobs ?? [];
  }

  get view(): LeaderView {
    const { holder, sinceMs } = this.#lease;
    return { isLeading: this.#isLeading, holder, sinceMs, jobs: this.#notes };
  }

  /** Begins to take the lease. Does nothing where the store has no jobs. */
  begin(): void {
    if (this.#jobs.length === 0) return;
    this.#isStopped = false;
    this.#soon(0);
  }

  /** Ends the job that is under way, and releases the lease. Never rejects. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    this.#ending.abort(new Error("the gateway stops"));
    await within(STOP_MS, Promise.all([this.#taking, this.#working]), () => undefined);
    const { leases } = this.#parts.store;
    if (leases === undefined || !this.#isLeading) return;
    this.#leadsUntilMs = -Infinity;
    const released = leases.release(LEASE, this.#parts.holder).catch(() => undefined);
    await within(STOP_MS, released, () => undefined);
  }

  get #renewEveryMs(): number {
    return this.#parts.store.leases?.renewEveryMs ?? LOOK_MS;
  }

  get #isLeading(): boolean {
    return this.#parts.clock.monotonic() < this.#leadsUntilMs;
  }

  #soon(ms: number): void {
    clearTimeout(this.#timer);
    if (this.#isStopped) return;
    this.#timer = setTimeout(() => {
      this.#taking = this.#take().finally(() => {
        this.#taking = undefined;
        // Processes that were started together do not ask together for long.
        this.#soon(this.#renewEveryMs * (0.8 + Math.random() * 0.4));
      });
    }, ms);
    this.#timer.unref();
  }

  /** Takes or renews the lease, and begins to work where this process has it. Never rejects. */
  async #take(): Promise<void> {
    const { store, holder, clock, log } = this.#parts;
    const startMs = clock.monotonic();
    const wasLeading = this.#isLeading;
    try {
      const lease =
        store.leases === undefined
          ? { holder, sinceMs: this.#lease.sinceMs || clock.now(), notes: "" }
          : await store.leases.take(
              LEASE,
              holder,
              RENEWALS * this.#renewEveryMs,
              wasLeading ? writeNotes(this.#notes) : undefined,
            );
      this.#lease = lease;
      const isOwn = lease.holder === holder;
      this.#leadsUntilMs = isOwn ? startMs + OWN_RENEWALS * this.#renewEveryMs : -Infinity;
      if (!wasLeading)
        this.#notes = store.leases === undefined ? this.#notes : readNotes(lease.notes);
      if (isOwn && !wasLeading) log.info("this process leads", { holder });
    } catch (error) {
      log.debug("the lease of the leader was not taken", { error: errorMessage(error) });
    }
    if (!this.#isLeading) return this.#endWork();
    if (this.#working !== undefined || this.#isStopped) return;
    if (this.#ending.signal.aborted) this.#ending = new AbortController();
    this.#working = this.#work().finally(() => (this.#working = undefined));
  }

  #endWork(): void {
    if (this.#working !== undefined) this.#ending.abort(new Error("another process leads"));
  }

  /** Runs the jobs that are due, one after the other. Never rejects. */
  async #work(): Promise<void> {
    const { signal } = this.#ending;
    const context: JobContext = { signal, keepLedgerMs: this.#parts.keepLedgerMs() };
    for (const job of this.#jobs) {
      if (signal.aborted || !this.#isLeading) return;
      // oxlint-disable-next-line no-await-in-loop -- one after the other.
      if (this.#isDue(job)) await this.#run(job, context);
    }
  }

  #isDue({ name, everyMs }: StoreJob): boolean {
    const note = this.#notes[name];
    if (note === undefined) return true;
    const waitMs = note.error === null ? everyMs : Math.min(everyMs, RETRY_JOB_MS);
    // A time that is in the future was written by a clock that is ahead.
    return Math.abs(this.#parts.clock.now() - note.atMs) >= waitMs;
  }

  async #run(job: StoreJob, context: JobContext): Promise<void> {
    const { clock, log } = this.#parts;
    const { name } = job;
    const note = { atMs: clock.now(), did: null, error: null };
    try {
      const did = await job.run(context);
      this.#notes = { ...this.#notes, [name]: { ...note, did: did ?? null } };
      if (did !== undefined) log.info("a job of the leader is done", { job: name, did });
    } catch (error) {
      if (context.signal.aborted) return;
      this.#notes = { ...this.#notes, [name]: { ...note, error: errorMessage(error) } };
      log.warn("a job of the leader failed; it is tried again in a minute", { job: name, error });
    }
  }
}
