/** Reads guarded streams to their first text, so that an early block is still an error reply with its own status. */

import type { StreamDialect } from "@sluice/runtime/guard";
import type { Frame } from "@sluice/contract";

/** Maximum frames without content before the first frame with content. */
const MAX_PRIMED = 64;
const NOTHING: AsyncIterator<Frame> = { next: () => Promise.resolve({ done: true, value: undefined }) };

/** Reads a stream to the first released frame with content. Throws the error of a block. */
export async function primed(frames: AsyncIterable<Frame>, dialect: StreamDialect): Promise<AsyncIterable<Frame>> {
  const iterator = frames[Symbol.asyncIterator]();
  const first: Frame[] = [];
  let isDone = false;
  while (!isDone && first.length < MAX_PRIMED) {
    // oxlint-disable-next-line no-await-in-loop -- frames come one after the other.
    const next = await iterator.next();
    isDone = next.done === true;
    if (next.done === true) break;
    first.push(next.value);
    const { pieces, ends } = dialect.read(next.value.chunk());
    if (pieces.length > 0 || ends !== undefined) break;
  }
  return resumed(first, iterator, isDone);
}

/** The frames of a stream that was read to its end. */
export function readAlready(frames: Frame[]): AsyncIterable<Frame> {
  return resumed(frames, NOTHING, true);
}

/** Frames that were read already, then the rest. An object of its own: a generator that never began would close nothing. */
function resumed(first: Frame[], iterator: AsyncIterator<Frame>, isDone: boolean): AsyncIterableIterator<Frame> {
  let isOpen = !isDone;
  return {
    async next() {
      const frame = first.shift();
      if (frame !== undefined) return { done: false, value: frame };
      if (!isOpen) return { done: true, value: undefined };
      const next = await iterator.next();
      if (next.done === true) isOpen = false;
      return next;
    },
    async return() {
      const wasOpen = isOpen;
      isOpen = false;
      first.length = 0;
      if (wasOpen) await iterator.return?.();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
