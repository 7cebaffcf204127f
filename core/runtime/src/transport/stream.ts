/** Opens a streamed reply: reads it until it may be delivered. */

import { type Frame, GatewayError, type StreamReply } from "@sluice/contract";
import { BatchedFrames, FrameBatch } from "@sluice/kit/internals";
import { type CommitAfter, Hold } from "./hold.ts";
import { type FirstContent, limitFirstContent } from "./replies/first-content.ts";
import { type ReaderOptions, StreamReader } from "./stream-reader.ts";

/** Options of a stream. */
export interface StreamOptions extends ReaderOptions {
  /** Holds the stream beyond its first content. Absent: not held. */
  readonly commitAfter?: CommitAfter | undefined;
  /** The maximum time without content. Absent: unlimited while events arrive. */
  readonly firstContent?: FirstContent | undefined;
}

/**
 * Opens a stream and reads it to its first content, or as far as `commitAfter` requires. Throws an
 * earlier failure. Later failures are thrown by the frames, which record the attempt's end in every
 * case.
 */
export async function openStream(options: StreamOptions): Promise<StreamReply> {
  const { clock, commitAfter, firstContent, response, startedMs } = options;
  const { body } = response;
  const reader = new StreamReader(options);
  const endLimit =
    firstContent === undefined
      ? undefined
      : limitFirstContent(firstContent, clock.monotonic() - startedMs, (error) =>
          body.cancel(error),
        );
  reader.output.mayRun = commitAfter === undefined;
  try {
    await readToContent(reader, options);
    endLimit?.();
    if (commitAfter !== undefined && reader.output.committed)
      await hold(reader, options, commitAfter);
    reader.output.mayRun = true;
  } catch (error) {
    endLimit?.();
    body.cancel(error);
    throw error;
  }
  return { kind: "stream", status: 200, frames: new BatchedFrames(reader) };
}

/** A stream without content is valid if it has a chunk of the dialect. */
async function readToContent(reader: StreamReader, { attempt }: StreamOptions): Promise<void> {
  const { output } = reader;
  while (!output.committed && !output.isDone) {
    await reader.read();
    if (reader.failure !== undefined && !output.committed) throw reader.failure;
  }
  if (
    output.committed ||
    new FrameBatch(output.waiting).frames.some((frame) => Array.isArray(frame.chunk().choices))
  )
    return;
  if (output.isEmpty) attempt.unbilled();
  throw new GatewayError("upstream_invalid_response", "The upstream's stream is empty.");
}

/**
 * Reads without returning frames. Held frames stay in the queue, so that other streams' frames do
 * not pay for them.
 */
async function hold(
  reader: StreamReader,
  { response }: StreamOptions,
  after: CommitAfter,
): Promise<void> {
  const held = new Hold(after);
  let isDue = false;
  const release = (): void => {
    isDue = true;
    response.body.nudge();
  };
  const timer = after.ms === undefined ? undefined : setTimeout(release, after.ms);
  try {
    for (let measured = 0; ;) {
      const { isDone, waiting } = reader.output;
      for (const frame of waiting.slice(measured)) held.add(frame as Frame);
      measured = waiting.length;
      // No frame was returned, so the attempt failed, even if the stream had enough content before.
      if (reader.failure !== undefined) throw reader.failure;
      if (isDue || held.isFull || isDone) return;
      await reader.read();
    }
  } finally {
    clearTimeout(timer);
  }
}
