/**
 * The worker threads that count long texts. Whatever happens in there stays there: a job that
 * cannot be done is `undefined`.
 */

import { extname } from "node:path";
import type { Piscina } from "piscina";
import type { Clock, Log } from "@sluice/contract";
import { Quarantine } from "./quarantine.ts";
import type { PackedVocabulary } from "./vocabulary.ts";

/** What a pool is made from. */
export interface PoolOptions {
  readonly log: Log;
  readonly clock: Clock;
  /** Worker threads. Default 1: on two cores the other one serves. */
  readonly threads?: number;
  /** Jobs that may wait. Default 64. */
  readonly maxQueue?: number;
  /** The worker's file. Default: the one beside this. */
  readonly filename?: string;
  /** A job's deadline without its size. Default 100 ms. */
  readonly baseDeadlineMs?: number;
}

const DEFAULT_MAX_QUEUE = 64;
const BASE_DEADLINE_MS = 100;
const DEADLINE_MS_PER_KILOBYTE = 1;
/**
 * Minimum extra time of a running job after its deadline, in milliseconds. A longer deadline is
 * granted once more instead.
 */
const MIN_GRACE_MS = 500;
/** Loading the tables takes 0.2 s; on a machine that is short of time, longer. */
const START_TIMEOUT_MS = 10_000;
/** The second failure in a row pauses the pool, each further one twice as long. */
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 60_000;

/** A pool that comes to life with its first job. */
export class CountingPool {
  readonly #options: PoolOptions;
  readonly #quarantine: Quarantine;
  #piscina: Piscina | undefined;
  /** The vocabulary, once the workers have loaded it; `undefined` when they could not. */
  #started: Promise<PackedVocabulary | undefined> | undefined;
  /** Resolves when the threads of every pool before have ended. */
  #ended: Promise<unknown> = Promise.resolve();
  #unfinished = 0;
  readonly #pause: Pause;
  #isClosed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#quarantine = new Quarantine(options.clock);
    this.#pause = new Pause(options.clock);
  }

  /** The vocabulary, for counting without a worker. */
  vocabulary(): Promise<PackedVocabulary | undefined> {
    if (this.#isClosed || this.#pause.isOn) return Promise.resolve(undefined);
    return (this.#started ??= this.#start().catch((error: unknown) =>
      this.#lost(this.#piscina, error),
    ));
  }

  /**
   * The tokens of some texts. `undefined` when they are quarantined, when the queue is full, when
   * the time is up, or when the worker failed. Never rejects.
   */
  async count(texts: readonly string[], maxWaitMs?: number): Promise<number | undefined> {
    const {
      maxQueue = DEFAULT_MAX_QUEUE,
      threads = 1,
      baseDeadlineMs = BASE_DEADLINE_MS,
    } = this.#options;
    if (
      this.#isClosed ||
      this.#pause.isOn ||
      this.#unfinished >= maxQueue + threads ||
      this.#quarantine.holds(texts)
    ) {
      return undefined;
    }
    const kilobytes = texts.reduce((total, text) => total + Buffer.byteLength(text), 0) / 1024;
    const deadlineMs = baseDeadlineMs + kilobytes * DEADLINE_MS_PER_KILOBYTE;
    this.#unfinished++;
    const job = this.#run(texts, deadlineMs).finally(() => this.#unfinished--);
    return maxWaitMs === undefined ? job : within(maxWaitMs, job);
  }

  /** Ends the threads. Jobs under way end without a count. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#drop(this.#piscina);
  }

  async #run(texts: readonly string[], deadlineMs: number): Promise<number | undefined> {
    if ((await this.vocabulary()) === undefined) return undefined;
    const piscina = this.#piscina;
    if (piscina === undefined || this.#isClosed) return undefined;
    const begun = new Int32Array(new SharedArrayBuffer(4));
    const hasBegun = (): boolean => Atomics.load(begun, 0) === 1;
    const controller = new AbortController();
    const work = (
      piscina.run({ kind: "count", texts, begun }, { signal: controller.signal }) as Promise<number>
    ).then(
      (tokens) => {
        this.#pause.end();
        return tokens;
      },
      (error: unknown) => {
        const isLate = controller.signal.aborted;
        if (hasBegun())
          this.#failed(isLate ? "deadline" : "crash", isLate ? undefined : error, texts);
        else if (!isLate) this.#lost(piscina, error);
        return undefined;
      },
    );
    const tokens = await within(deadlineMs, work);
    if (tokens !== undefined || controller.signal.aborted) return tokens;
    // A job that never began is taken from the queue. One that did goes on for a while, unwaited
    // for: it may have begun late, or the machine is short of time, and a new worker would cost
    // more of it. Only then its worker is ended.
    if (!hasBegun()) controller.abort();
    const isOver = work.then(() => true);
    void within(Math.max(deadlineMs, MIN_GRACE_MS), isOver).then(
      (over) => over ?? controller.abort(),
    );
    return undefined;
  }

  async #start(): Promise<PackedVocabulary | undefined> {
    const { threads = 1, log } = this.#options;
    // Loaded here, so that the process starts without it.
    const { Piscina } = await import("piscina");
    if (this.#isClosed) return undefined;
    const piscina = createThreads(Piscina, this.#options);
    this.#piscina = piscina;
    const startedMs = this.#options.clock.monotonic();
    const loads = Array.from(
      { length: threads },
      () => piscina.run({ kind: "vocabulary" }) as Promise<PackedVocabulary>,
    );
    const [packed] =
      (await within(
        START_TIMEOUT_MS,
        Promise.all(loads).catch((error: unknown) => this.#lost(piscina, error)),
      )) ?? [];
    if (packed === undefined) await this.#drop(piscina);
    else
      log.debug("token counting started", {
        threads,
        took_ms: Math.round(this.#options.clock.monotonic() - startedMs),
      });
    return packed;
  }

  /**
   * A worker died, or could not start: it is not started again by the pool itself, so the next
   * count makes a new pool.
   */
  #lost(piscina: Piscina | undefined, error: unknown): undefined {
    this.#failed("start", error);
    void this.#drop(piscina);
  }

  /** Notes a failed job. Texts that were being counted are the suspects. */
  #failed(why: Failure, error: unknown, texts: readonly string[] = []): void {
    if (this.#isClosed) return;
    if (texts.length > 0) this.#quarantine.hold(texts);
    this.#pause.count();
    logFailure(this.#options.log, why, error, texts);
  }

  async #drop(piscina: Piscina | undefined): Promise<void> {
    // Piscina, when it is ended for the second time, starts its threads again.
    if (piscina === this.#piscina) {
      this.#piscina = undefined;
      this.#started = undefined;
      this.#ended = Promise.all([this.#ended, piscina?.destroy()]);
    }
    await this.#ended;
  }
}

type Failure = "crash" | "deadline" | "start";

function logFailure(log: Log, why: Failure, error: unknown, texts: readonly string[]): void {
  const characters = texts.reduce((total, { length }) => total + length, 0);
  log.warn("a counting worker failed; the count is an estimate", { why, characters, error });
}

/** The pause of a pool whose workers fail. */
class Pause {
  readonly #clock: Clock;
  #failuresInRow = 0;
  #untilMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isOn(): boolean {
    return this.#untilMs > 0 && this.#clock.monotonic() < this.#untilMs;
  }

  /** Counts a failure. */
  count(): void {
    if (++this.#failuresInRow <= 1) return;
    const pauseMs = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (this.#failuresInRow - 2));
    this.#untilMs = this.#clock.monotonic() + pauseMs;
  }

  /** A job has succeeded: failures are counted from the first one again. */
  end(): void {
    this.#failuresInRow = 0;
  }
}

function createThreads(
  Pool: typeof Piscina,
  { threads = 1, maxQueue = DEFAULT_MAX_QUEUE, filename, log }: PoolOptions,
): Piscina {
  const piscina = new Pool({
    filename: filename ?? new URL(`./worker${extname(import.meta.url)}`, import.meta.url).href,
    minThreads: threads,
    maxThreads: threads,
    maxQueue: maxQueue + threads,
    resourceLimits: { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32 },
    // A worker counts. It has no business with what the environment holds.
    env: {},
  });
  // Without a listener a worker that dies between two jobs would end the process.
  piscina.on("error", (error: unknown) => log.warn("an idle counting worker failed", { error }));
  return piscina;
}

/** What a promise resolves with, `undefined` when that takes longer. */
function within<T>(ms: number, promise: Promise<T>): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(undefined), ms);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
