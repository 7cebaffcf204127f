/** The frames of a reply under guard. Where they come faster than anybody reads, several are judged at once. */

import type { Frame } from "@sluice/spec";
import { GuardedStream, type GuardedStreamOptions } from "./stream.ts";

/** Characters of one text that are judged at once at most. */
const BATCH = 512;
/** How long text may wait for more of it, in milliseconds: nobody sees it, and a fast stream has dozens of events in that time. */
const PATIENCE_MS = 20;

/** Judges the frames of a reply. The inner frames are closed with it, after `onFailure` has been told why. */
export function guardFrames(
  frames: AsyncIterable<Frame>,
  options: GuardedStreamOptions,
  onFailure: (error: unknown) => void,
): AsyncGenerator<Frame, void, undefined> {
  const source = frames[Symbol.asyncIterator]();
  const guarded = guard(source, new GuardedStream({ batch: BATCH, ...options }), onFailure);
  const close = guarded.return.bind(guarded);
  guarded.return = async (value) => {
    // A generator that waits for a frame would be closed with that frame, whenever it comes.
    await source.return?.();
    return close(value);
  };
  return guarded;
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
      if (next === undefined) await stream.judge();
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
    // A reply that has begun goes on up to the offence. One that has not is an answer with a status of its own.
    if (hasBegun) yield* stream.ready;
    throw error;
  } finally {
    patience.end();
    // A frame that is on its way ends the wait for it. Who reads along may need the inner frames to their end: the usage comes last.
    pending?.catch(() => undefined);
    if (isOpen) await source.return?.();
  }
}

/** A wait for the next frame that ends when text has waited long enough. */
class Patience {
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;
  #wake: (() => void) | undefined;

  /** The next frame, or `undefined` when it does not come in time. Then what waits is judged, and the time begins anew. */
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
    // Nobody waits at the moment: whoever asks next has waited long enough.
    if (wake === undefined) this.#isOver = true;
    else wake();
  }
}
