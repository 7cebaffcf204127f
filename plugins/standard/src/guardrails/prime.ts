/**
 * Reads guarded streams to their first text, so that an early block is still an error reply with
 * its own status.
 */

import {
  type BatchSource,
  BatchedFrames,
  batchesOf,
  type FrameBatch,
  startingWith,
} from "@sluice/kit/internals";
import type { StreamDialect } from "@sluice/runtime/guard";
import type { Frame } from "@sluice/contract";

/** Maximum frames without content before the first frame with content. */
const MAX_PRIMED = 64;
const NOTHING: BatchSource = { next: () => Promise.resolve(undefined), close: () => undefined };

/** Reads a stream to the first released frame with content. Throws the error of a block. */
export async function primed(
  frames: AsyncIterable<Frame>,
  dialect: StreamDialect,
): Promise<AsyncIterable<Frame>> {
  const source = batchesOf(frames);
  const first: FrameBatch[] = [];
  let count = 0;
  while (count < MAX_PRIMED) {
    // oxlint-disable-next-line no-await-in-loop -- frames come one after the other.
    const batch = await source.next();
    if (batch === undefined) return readAlready(first);
    first.push(batch);
    count += batch.frames.length;
    if (batch.frames.some((frame) => hasContent(frame, dialect))) break;
  }
  return new BatchedFrames(startingWith(first, source));
}

/** The frames of a stream that was read to its end. */
export function readAlready(batches: readonly FrameBatch[]): AsyncIterable<Frame> {
  return new BatchedFrames(startingWith(batches, NOTHING));
}

function hasContent(frame: Frame, dialect: StreamDialect): boolean {
  const { pieces, ends } = dialect.read(frame.chunk());
  return pieces.length > 0 || ends !== undefined;
}
