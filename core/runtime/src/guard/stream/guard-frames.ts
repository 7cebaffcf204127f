/** Checks the frames of a reply. Frames that arrive quickly are checked in batches. */

import type { Frame } from "@sluice/contract";
import { BatchedFrames, batchesOf, type BatchSource, FrameBatch } from "@sluice/kit/internals";
import type { GuardedStreamOptions } from "./options.ts";
import { GuardedStream } from "./stream.ts";

/** Maximum characters of one text in a batch. */
const BATCH = 512;
/**
 * The maximum wait of a text for more of it, in milliseconds: readers do not notice it, and a fast
 * stream has dozens of events in that time.
 */
const PATIENCE_MS = 20;

/**
 * Checks the frames of a reply. The inner frames are closed with it, after `onFailure` got the
 * reason.
 */
export function guardFrames(
  frames: AsyncIterable<Frame>,
  options: GuardedStreamOptions,
  onFailure: (error: unknown) => void,
): BatchedFrames {
  return new BatchedFrames(
    new GuardedBatches(
      batchesOf(frames),
      new GuardedStream({ batch: BATCH, ...options }),
      onFailure,
    ),
  );
}

/** Checks batches. The frames of one arrival that are decided leave in one batch. */
class GuardedBatches implements BatchSource {
  readonly #source: BatchSource;
  readonly #stream: GuardedStream;
  readonly #onFailure: (error: unknown) => void;
  readonly #patience = new Patience();
  #pending: Promise<FrameBatch | undefined> | undefined;
  #isOpen = true;
  /** A text was handed on. */
  #hasBegun = false;
  /** The error that `next` throws after the frames that were decided before it. */
  #failure: { readonly error: unknown } | undefined;

  constructor(source: BatchSource, stream: GuardedStream, onFailure: (error: unknown) => void) {
    this.#source = source;
    this.#stream = stream;
    this.#onFailure = onFailure;
  }

  async next(): Promise<FrameBatch | undefined> {
    try {
      // oxlint-disable-next-line no-await-in-loop -- batches come one after the other.
      while (this.#isOpen && this.#stream.ready.length === 0) await this.#advance();
    } catch (error) {
      await this.#fail(error);
    }
    const { ready } = this.#stream;
    if (ready.length > 0) {
      this.#stream.ready = [];
      return new FrameBatch(ready);
    }
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) throw failure.error;
    return undefined;
  }

  async close(): Promise<void> {
    this.#stream.ready = [];
    this.#failure = undefined;
    await this.#end();
  }

  /** Checks the frames of the next arrival, or the text that has waited long enough. */
  async #advance(): Promise<void> {
    const stream = this.#stream;
    this.#pending ??= this.#source.next();
    const batch = stream.isWaiting
      ? await this.#patience.orEnd(this.#pending)
      : await this.#pending;
    if (batch === LATE) {
      await stream.decide();
      this.#hasBegun ||= stream.hasText;
      return;
    }
    this.#pending = undefined;
    if (batch === undefined) {
      await stream.end();
      this.#isOpen = false;
      this.#patience.end();
      return;
    }
    for (const frame of batch.frames) {
      const pushed = stream.push(frame);
      // oxlint-disable-next-line no-await-in-loop -- frames are checked in their order.
      if (pushed !== undefined) await pushed;
      this.#hasBegun ||= stream.hasText;
    }
  }

  /**
   * A reply that has begun continues up to the blocked place. One that has not becomes an error
   * reply with its own status.
   */
  async #fail(error: unknown): Promise<void> {
    this.#onFailure(error);
    this.#failure = { error };
    if (!this.#hasBegun) this.#stream.ready = [];
    await this.#end();
  }

  /** The pending frames end the wait for them. */
  async #end(): Promise<void> {
    this.#patience.end();
    this.#pending?.catch(() => undefined);
    if (!this.#isOpen) return;
    this.#isOpen = false;
    await this.#source.close();
  }
}

const LATE = Symbol("late");

/** A wait for the next frames that ends when text has waited long enough. */
class Patience {
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;
  #wake: (() => void) | undefined;

  /** The next frames, or `LATE`. The waiting text is then checked, and the timer restarts. */
  orEnd(next: Promise<FrameBatch | undefined>): Promise<FrameBatch | typeof LATE | undefined> {
    if (this.#isOver) {
      this.#isOver = false;
      return Promise.resolve(LATE);
    }
    this.#timer ??= setTimeout(() => this.#ring(), PATIENCE_MS);
    return new Promise((resolve, reject) => {
      this.#wake = () => resolve(LATE);
      next.then((batch) => {
        this.#wake = undefined;
        resolve(batch);
      }, reject);
    });
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  #ring(): void {
    this.#timer = undefined;
    const wake = this.#wake;
    this.#wake = undefined;
    // No call waits now: the next call returns immediately.
    if (wake === undefined) this.#isOver = true;
    else wake();
  }
}
