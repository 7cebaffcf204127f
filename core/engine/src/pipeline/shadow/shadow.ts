/**
 * Steps in shadow mode: they run beside the request, on an exchange of their own, and only report
 * what they would have done.
 */

import { batchesOf, type ViewApart } from "@sluice/kit/internals";
import { bytesFor, framesFor, guardrailOutcomes, replayBytes, replayFrames } from "@sluice/runtime";
import {
  type Attempt,
  type Clock,
  type Exchange,
  GatewayError,
  type GatewayRequest,
  isGatewayError,
  type Log,
  type Next,
  type Reply,
  type StepFunction,
} from "@sluice/contract";
import type { Position } from "../../config/snapshot.ts";
import { shadowOf } from "./exchange.ts";

/** The counts of a step in shadow mode. */
export interface ShadowCounts {
  runs: number;
  /**
   * Requests that the step would have refused (status 4xx or 5xx) and streams it would have cut.
   */
  refused: number;
  /** Requests that the step would have answered itself. */
  answered: number;
  /** Requests whose body or reply the step would have changed. */
  changed: number;
  /** Runs that failed: the step threw, or fell behind a stream. */
  failed: number;
}

/** A step in shadow mode, as the status shows it. */
export interface ShadowReport {
  readonly pipeline: string;
  readonly step: string;
  readonly at: Position;
  readonly counts: ShadowCounts;
}

/** The parts of a shadow. */
export interface ShadowParts {
  readonly report: ShadowReport;
  readonly log: Log;
  readonly clock: Clock;
}

/** Time after the end of its exchange at which a step that still works is aborted. */
const GRACE_MS = 1_000;
/** The maximum distance behind the client. */
const BEHIND = { maxBytes: 1024 * 1024, keepsRead: false } as const;
/** The interval of its log lines, which are written while its counts change. */
const LOG_EVERY_MS = 60_000;

/**
 * A function that runs the inner steps at once and the step beside them. It never fails for the
 * step, and never waits for it.
 */
export function shadowed(step: StepFunction, parts: ShadowParts): StepFunction {
  let loggedMs = -Infinity;
  const { report, log, clock } = parts;
  const { counts, pipeline, step: name } = report;
  const tell = (): void => {
    if (clock.monotonic() - loggedMs < LOG_EVERY_MS) return;
    loggedMs = clock.monotonic();
    log.info("a step in shadow would have changed the outcome", {
      pipeline,
      step: name,
      ...counts,
    });
  };
  return async ({ exchange: real }, next) => {
    counts.runs += 1;
    const shadow = shadowOf(real);
    const stage = new Stage(real, shadow);
    void watch(step, shadow, stage).then((seen) => {
      if (seen.kind === "same") return;
      counts[seen.kind] += 1;
      real.note(name, WORDS[seen.kind], seen.about);
      tell();
    });
    try {
      await next();
      stage.open();
    } catch (error) {
      stage.fail(error);
      throw error;
    }
  };
}

const WORDS = {
  refused: "in shadow: would have refused",
  answered: "in shadow: would have answered",
  changed: "in shadow: would have changed",
  failed: "in shadow: failed",
} as const;

/** The outcome of a run. */
interface Seen {
  readonly kind: keyof typeof WORDS | "same";
  readonly about?: string;
}

/** The outcome of the inner steps, as the step in shadow mode sees it. */
class Stage {
  readonly #real: Exchange;
  readonly #shadow: ViewApart;
  readonly #asked: GatewayRequest | undefined;
  readonly #inner: Promise<void>;
  #settle: { resolve: () => void; reject: (error: unknown) => void } | undefined;
  #close: (() => void) | undefined;
  #isOver = false;
  /** The reply as the step sees it. */
  shown: Reply | undefined;
  isCalled = false;
  hasEdited = false;
  /** The error of the inner steps, which is not the step's own. */
  failure: unknown;

  constructor(real: Exchange, shadow: ViewApart) {
    this.#real = real;
    this.#shadow = shadow;
    this.#asked = real.request;
    this.#inner = new Promise((resolve, reject) => (this.#settle = { resolve, reject }));
    this.#inner.catch(() => undefined);
  }

  /** The step's `next`: it waits for the real inner steps and shows their outcome. */
  readonly next: Next = async (branch) => {
    const into = branch?.exchange ?? this.#shadow;
    this.isCalled = true;
    this.hasEdited ||= this.#asked !== undefined && into.request?.document !== this.#asked.document;
    await this.#inner;
    const { model, target, headers, attempts } = this.#real;
    Object.assign(into, { model, target, reply: this.shown });
    for (const [name, value] of headers) into.headers.set(name, value);
    // A branch lists its own attempts; in shadow those are the real ones.
    if (into !== this.#shadow) (into.attempts as Attempt[]).push(...attempts);
  };

  /** Records the end of the inner steps. The step sees a stream at the client's pace. */
  open(): void {
    const { reply } = this.#real;
    this.shown = reply;
    if (!this.#isOver && reply?.kind === "stream") {
      const buffer = replayFrames(reply.frames, BEHIND);
      const spectator = buffer.join({ isSpectator: true });
      this.#real.reply = { ...reply, frames: framesFor(buffer.join()) };
      this.shown = { ...reply, frames: framesFor(spectator) };
      this.#close = () => void spectator.close();
    } else if (!this.#isOver && reply?.kind === "bytes") {
      const buffer = replayBytes(reply.body, BEHIND);
      const spectator = buffer.join({ isSpectator: true });
      this.#real.reply = { ...reply, body: bytesFor(buffer.join()) };
      this.shown = { ...reply, body: bytesFor(spectator) };
      this.#close = () => void spectator.close();
    }
    this.#settle?.resolve();
  }

  fail(error: unknown): void {
    this.failure = error;
    this.#settle?.reject(error);
  }

  /** Records the end of the step: its data is dropped. */
  close(): void {
    this.#isOver = true;
    this.#close?.();
  }
}

async function watch(step: StepFunction, shadow: ViewApart, stage: Stage): Promise<Seen> {
  const over = new GatewayError("client_closed", "The exchange is over.");
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const late = new Promise<Seen>((resolve) => {
    shadow.lifetime.onSettle(() => {
      if (isOver) return;
      timer = setTimeout(() => {
        shadow.abort(over);
        resolve({ kind: "failed", about: "it had not ended with the request" });
      }, GRACE_MS).unref();
    });
  });
  try {
    return await Promise.race([observe(step, shadow, stage), late]);
  } finally {
    isOver = true;
    clearTimeout(timer);
    stage.close();
    shadow.abort(over);
  }
}

async function observe(step: StepFunction, shadow: ViewApart, stage: Stage): Promise<Seen> {
  try {
    await step({ exchange: shadow }, stage.next);
    if (!stage.isCalled)
      return shadow.reply === undefined
        ? { kind: "failed", about: "it neither handed on nor answered" }
        : { kind: "answered" };
    const { reply } = shadow;
    const hasReplaced = reply !== stage.shown && !(await isSame(reply, stage.shown));
    const hasJudged = guardrailOutcomes(shadow).some(({ verdict }) => verdict === "edit");
    return stage.hasEdited || hasReplaced || hasJudged ? { kind: "changed" } : { kind: "same" };
  } catch (error) {
    if (error === stage.failure || shadow.signal.aborted) return { kind: "same" };
    return isGatewayError(error) && error.code !== "plugin_failed"
      ? { kind: "refused", about: error.code }
      : { kind: "failed" };
  }
}

/** Reads the step's version of a stream: an error at its end counts as a refusal. */
async function isSame(reply: Reply | undefined, shown: Reply | undefined): Promise<boolean> {
  if (reply?.kind === "stream") {
    const batches = batchesOf(reply.frames);
    // oxlint-disable-next-line no-await-in-loop -- batches come one after the other.
    while ((await batches.next()) !== undefined);
    return true;
  }
  if (reply?.kind === "bytes") {
    for await (const piece of reply.body) void piece;
    return true;
  }
  return shown?.kind === "whole" && reply?.kind === "whole" && reply.document === shown.document;
}
