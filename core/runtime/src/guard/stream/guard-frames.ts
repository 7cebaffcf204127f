/** Checks the frames of a reply. Frames that arrive quickly are checked in batches. */

import { closing } from "../../stream/closing.ts";
import type { Frame } from "@sluice/contract";
import { GuardedStream, type GuardedStreamOptions } from "./stream.ts";

/** Maximum characters of one text in a batch. */
const BATCH = 512;
/**
 * The maximum wait of a text for more of it, in milliseconds: readers do not notice it, and a fast
 * stream has dozens of events in that time.
 */
const PATIENCE_MS = 20;

/** Checks the frames of a reply. The inner frames are closed with it, after `onFailure` got the reason. */
export function guardFrames(
  frames: AsyncIterable<Frame>,
  options: GuardedStreamOptions,
  onFailure: (error: unknown) => void,
): AsyncGenerator<Frame, void, undefined> {
  const source = frames[Symbol.asyncIterator]();
  // A generator that waits for a frame closes only when that frame arrives.
  return closing(guard(source, new GuardedStream({ batch: BATCH, ...options }), onFailure), () => source.return?.());
}

async function* guard(
  source: AsyncIterator<Frame>,
  stream: GuardedStream,
  onFailure: (error: unknown) => void,
): AsyncGenerator<Frame, void, undefined> {
  const patience = new Patience();
  let pending: Promise<IteratorResult<Frame>> | undefined;
  let isOpen = true;
  let hasBegun = false;
  try {
    for (;;) {
      pending ??= source.next();
      const next = stream.isWaiting ? await patience.orEnd(pending) : await pending;
      if (next === undefined) await stream.decide();
      else {
        pending = undefined;
        if (next.done === true) {
          isOpen = false;
          break;
        }
        const pushed = stream.push(next.value);
        if (pushed !== undefined) await pushed;
      }
      if (stream.ready.length > 0) {
        const { ready } = stream;
        stream.ready = [];
        hasBegun = stream.hasText;
        for (const frame of ready) yield frame;
      }
    }
    await stream.end();
    yield* stream.ready;
  } catch (error) {
    onFailure(error);
    // A reply that has begun continues up to the blocked place. One that has not becomes an error
    // reply with its own status.
    if (hasBegun) yield* stream.ready;
    throw error;
  } finally {
    patience.end();
    // The pending frame ends the wait for it. Observers may need the inner frames to their end,
    // because the usage comes last.
    pending?.catch(() => undefined);
    if (isOpen) await source.return?.();
  }
}

/** A wait for the next frame that ends when text has waited long enough. */
class Patience {
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;
  #wake: (() => void) | undefined;

  /** The next frame, or `undefined` when it is late. The waiting text is then checked, and the timer restarts. */
  orEnd(next: Promise<IteratorResult<Frame>>): Promise<IteratorResult<Frame> | undefined> {
    if (this.#isOver) {
      this.#isOver = false;
      return Promise.resolve(undefined);
    }
    this.#timer ??= setTimeout(() => this.#ring(), PATIENCE_MS);
    return new Promise((resolve, reject) => {
      this.#wake = () => resolve(undefined);
      next.then((frame) => {
        this.#wake = undefined;
        resolve(frame);
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
