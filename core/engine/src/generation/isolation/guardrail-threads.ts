/**
 * The threads of one isolated guardrail: a heap of their own, a deadline for each job, and a new
 * thread for each that dies.
 */

import { extname } from "node:path";
import type { Piscina } from "piscina";
import { holderOf, type PlaceLimits, Places } from "@sluice/kit/internals";
import type {
  Host,
  GuardrailCaller,
  Log,
  RequestFacts,
  TextContext,
  Verdict,
} from "@sluice/contract";
import {
  CANCELLED,
  type JobState,
  type ThreadAnswer,
  type ThreadData,
  type ThreadJob,
  WAITING,
} from "./message.ts";

/** The parts of the threads. */
export interface ThreadsOptions {
  readonly data: ThreadData;
  readonly threads: number;
  readonly heapBytes: number;
  readonly log: Log;
}

/** The subject of a check. */
export type Judged =
  | { readonly kind: "check"; readonly text: string; readonly context: TextContext }
  | { readonly kind: "admit"; readonly request: RequestFacts };

/** The parts of a check. */
export interface JudgementTerms {
  readonly budgetMs: number;
  readonly signal: AbortSignal;
  readonly log: Host["log"];
  /** Whose part of the threads it takes. Absent: that of work of the gateway's own. */
  readonly caller: GuardrailCaller | undefined;
}

/** Judgements that may wait for a thread. One more fails at once. */
const MAX_QUEUE = 256;
/** The additional time in which a late thread may report its own timeout, before it is ended. */
const GRACE_MS = 100;
const MEGABYTE = 1024 * 1024;

/** A pool of threads. It outlives generations; its creator closes it. */
export class GuardrailThreads {
  readonly #options: ThreadsOptions;
  readonly #places = new Places();
  #piscina: Promise<Piscina> | undefined;
  #isClosed = false;

  constructor(options: ThreadsOptions) {
    this.#options = options;
  }

  /**
   * The guardrail's properties, once a thread has created it. Rejects with the signal's reason, or
   * when no thread can start.
   */
  async describe(signal: AbortSignal): Promise<ThreadAnswer> {
    const piscina = await this.#pool();
    return (await piscina.run({ kind: "describe" } satisfies ThreadJob, {
      signal,
    })) as ThreadAnswer;
  }

  /**
   * The verdict. Rejects with an Error whose name says what happened; nothing of the text is in it.
   * Where the key of the caller has its part of the threads, the judgement waits, and is refused
   * with `overloaded`.
   */
  async judge(judged: Judged, { budgetMs, signal, log, caller }: JudgementTerms): Promise<Verdict> {
    const piscina = await this.#pool();
    const release = await this.#enter(caller, budgetMs, signal);
    const begun: JobState = new BigInt64Array(new SharedArrayBuffer(8));
    const controller = new AbortController();
    const left = Promise.withResolvers<never>();
    // A job that no thread has begun with is passed over when its turn comes; piscina would end the
    // thread that is about to. What has begun is left to its own deadline: ending a thread for each
    // client that leaves would be a way to keep none alive.
    const cancel = (): void => {
      if (Atomics.compareExchange(begun, 0, WAITING, CANCELLED) === WAITING)
        left.reject(named("Cancelled"));
    };
    let timer = setTimeout(() => {
      cancel();
      const since = Atomics.load(begun, 0);
      if (since === CANCELLED) return;
      timer = setTimeout(
        () => controller.abort(),
        Math.max(0, Number(since) + budgetMs + GRACE_MS - Date.now()),
      );
    }, budgetMs);
    signal.addEventListener("abort", cancel, { once: true });
    try {
      const job: ThreadJob = { ...judged, budgetMs, begun };
      const work = piscina.run(job, { signal: controller.signal }) as Promise<ThreadAnswer>;
      // A judgement that is given up has its thread until it ends.
      work.then(release, release);
      const answer = await Promise.race([work, left.promise]);
      for (const { level, message, fields } of answer.lines) log[level](message, fields);
      if (answer.kind === "verdict") return answer.verdict;
      throw answer.kind === "threw" ? named(answer.name, answer.places) : named("Unfit");
    } catch (error) {
      if (error instanceof NoVerdict) throw error;
      if (piscina.threads.length === 0) await this.#drop(piscina);
      throw named(nameOf(error));
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", cancel);
    }
  }

  /** Ends the threads, whatever they do. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const piscina = await this.#piscina?.catch(() => undefined);
    await piscina?.destroy();
  }

  /** Takes a place for each judgement that a thread works on. */
  async #enter(
    caller: GuardrailCaller | undefined,
    waitMs: number,
    signal: AbortSignal,
  ): Promise<() => void> {
    const { key, team } = caller ?? holderOf(undefined);
    const holder = { key, team };
    const what = caller?.what ?? "The guardrail";
    const limits: PlaceLimits = {
      places: this.#options.threads,
      queue: MAX_QUEUE,
      waitMs,
      what,
      mayHaveAll: true,
    };
    if (this.#places.hasRoom(holder, limits)) {
      this.#places.take(holder);
    } else {
      if (caller !== undefined) caller.waits += 1;
      await this.#places.wait(holder, limits, signal);
    }
    return () => this.#places.release(holder);
  }

  #pool(): Promise<Piscina> {
    if (this.#isClosed) return Promise.reject(named("Closed"));
    return (this.#piscina ??= this.#open());
  }

  async #open(): Promise<Piscina> {
    const { data, threads, heapBytes, log } = this.#options;
    // Loaded here, so that a gateway without isolated guardrails starts without it.
    const { Piscina } = await import("piscina");
    const piscina = new Piscina({
      filename: new URL(`./thread${extname(import.meta.url)}`, import.meta.url).href,
      minThreads: threads,
      maxThreads: threads,
      maxQueue: MAX_QUEUE,
      resourceLimits: {
        maxOldGenerationSizeMb: Math.max(16, Math.floor(heapBytes / MEGABYTE)),
        maxYoungGenerationSizeMb: 16,
      },
      workerData: data,
      // A guardrail judges. It has no business with what the environment holds.
      env: {},
    });
    // Without a listener a thread that dies between two jobs would end the process.
    piscina.on("error", (error: unknown) =>
      log.warn("an idle thread of a guardrail failed", { error_name: nameOf(error) }),
    );
    return piscina;
  }

  /** A pool whose threads cannot start any more is left; the next judgement makes a new one. */
  async #drop(piscina: Piscina): Promise<void> {
    if ((await this.#piscina) === piscina) this.#piscina = undefined;
    await piscina.destroy();
  }
}

/** Its name is that of what happened in the thread. */
class NoVerdict extends Error {}

/** `places`: where it happened in the thread, in the form of a stack. */
function named(name: string, places?: readonly string[]): Error {
  const error = new NoVerdict("An isolated guardrail returned no verdict.");
  error.name = name;
  if (places !== undefined)
    error.stack = [error.message, ...places.map((place) => `    at ${place}`)].join("\n");
  return error;
}

function nameOf(error: unknown): string {
  const { code, name } = error as { readonly code?: unknown; readonly name?: unknown };
  if (code === "ERR_WORKER_OUT_OF_MEMORY") return "OutOfMemory";
  return typeof name === "string" ? name : "unknown";
}
