/** A streamed reply: reads events, returns frames, primed to its first content. */

import {
  type AttemptWriter,
  type Clock,
  type EventReader,
  type Frame,
  GatewayError,
  type StreamFraming,
  type StreamReply,
} from "@sluice/contract";
import {
  asGatewayError,
  type BatchSource,
  BatchedFrames,
  FrameBatch,
  type ResponseBody,
  type UpstreamResponse,
} from "@sluice/kit/internals";
import { type OutputOptions, StreamOutput } from "../stream/output.ts";
import { createFormedReader } from "../stream/reader.ts";
import { BodyPieces } from "./replies/body-pieces.ts";
import { type FirstContent, limitFirstContent } from "./replies/first-content.ts";
import { type CommitAfter, Hold } from "./hold.ts";

/** Options of a stream. */
export interface StreamOptions extends OutputOptions {
  readonly response: UpstreamResponse;
  /** The provider's own framing. Absent: server-sent events only. */
  readonly framing?: StreamFraming | undefined;
  /** Holds the stream beyond its first content. Absent: not held. */
  readonly commitAfter?: CommitAfter | undefined;
  /** The maximum time without content. Absent: unlimited while events arrive. */
  readonly firstContent?: FirstContent | undefined;
  /** Removes confidential parts from an error. Absent: unchanged. */
  readonly clean?: ((error: unknown) => unknown) | undefined;
}

/** Grace time for the connection to end after the stream's end mark. */
const END_GRACE_MS = 1_000;
/**
 * Opens a stream and reads it to its first content, or as far as `commitAfter` requires. Throws an
 * earlier failure. Later failures are thrown by the frames, which record the attempt's end in every
 * case.
 */
export async function openStream(options: StreamOptions): Promise<StreamReply> {
  const reader = new StreamReader(options);
  await reader.prime(options.commitAfter, options.firstContent);
  return { kind: "stream", status: 200, frames: new BatchedFrames(reader) };
}

/** Reads the body into the output, and returns the frames of each arrival as one batch. */
class StreamReader implements BatchSource {
  readonly #body: ResponseBody;
  readonly #events: EventReader;
  readonly #output: StreamOutput;
  readonly #options: StreamOptions;
  readonly #attempt: AttemptWriter;
  readonly #clock: Clock;
  readonly #pieces: BodyPieces;
  #isEnded = false;
  #isOver = false;
  /** The translator's error after frames that may still be delivered. */
  #failure: unknown;

  constructor(options: StreamOptions) {
    const { response, attempt } = options;
    this.#body = response.body;
    this.#pieces = new BodyPieces(response.body);
    this.#options = options;
    this.#attempt = attempt;
    this.#clock = options.clock;
    this.#output = new StreamOutput(options);
    const type = response.headers["content-type"];
    const events = createFormedReader(
      typeof type === "string" ? type : "",
      options.framing,
      this.#output,
    );
    if (events === undefined) throw noStream(options);
    this.#events = events;
  }

  async prime(
    commitAfter: CommitAfter | undefined,
    firstContent: FirstContent | undefined,
  ): Promise<void> {
    const output = this.#output;
    const spentMs = this.#clock.monotonic() - this.#options.startedMs;
    const endLimit =
      firstContent === undefined
        ? undefined
        : limitFirstContent(firstContent, spentMs, (error) => this.#body.cancel(error));
    output.mayRun = commitAfter === undefined;
    try {
      while (!output.committed && !output.isDone) {
        await this.#read();
        if (this.#failure !== undefined && !output.committed) throw this.#failure;
      }
      // A stream without content is valid if it has a chunk of the dialect.
      if (
        !output.committed &&
        !new FrameBatch(output.waiting).frames.some((frame) => Array.isArray(frame.chunk().choices))
      ) {
        if (output.isEmpty) this.#attempt.unbilled();
        throw new GatewayError("upstream_invalid_response", "The upstream's stream is empty.");
      }
      endLimit?.();
      if (commitAfter !== undefined && output.committed) await this.#hold(commitAfter);
      output.mayRun = true;
    } catch (error) {
      endLimit?.();
      this.#body.cancel(error);
      throw error;
    }
  }

  /**
   * Reads without returning frames. Held frames stay in the queue, so that other streams' frames do
   * not pay for them.
   */
  async #hold(after: CommitAfter): Promise<void> {
    const hold = new Hold(after);
    let isDue = false;
    const release = (): void => {
      isDue = true;
      this.#body.nudge();
    };
    const timer = after.ms === undefined ? undefined : setTimeout(release, after.ms);
    try {
      for (let measured = 0; ;) {
        const { waiting } = this.#output;
        for (const frame of waiting.slice(measured)) hold.add(frame as Frame);
        measured = waiting.length;
        // No frame was returned, so the attempt failed, even if the stream had enough content
        // before.
        if (this.#failure !== undefined) throw this.#failure;
        if (isDue || hold.isFull || this.#output.isDone) return;
        await this.#read();
      }
    } finally {
      clearTimeout(timer);
    }
  }

  /** The frames of the next arrival. */
  async next(): Promise<FrameBatch | undefined> {
    const output = this.#output;
    try {
      while (!this.#isOver) {
        if (!output.isEmpty) return new FrameBatch(output.take());
        if (this.#failure !== undefined) throw this.#failure;
        if (output.isDone) this.#succeed();
        else await this.#read();
      }
      return undefined;
    } catch (error) {
      this.#isOver = true;
      const failure = asGatewayError(error);
      this.#attempt.interrupt(failure);
      this.#giveUp();
      throw failure;
    }
  }

  close(): void {
    this.#isOver = true;
    this.#giveUp();
  }

  #succeed(): void {
    this.#isOver = true;
    this.#attempt.succeed(this.#clock.now());
    this.#body.release(END_GRACE_MS);
  }

  /** Without an outcome the stream was cut: by an error, or by a reader that left. */
  #giveUp(): void {
    const attempt = this.#attempt;
    if (attempt.outcome !== undefined) return;
    const { failure } = this.#body;
    attempt.cut(
      attempt.error ?? (failure === undefined ? clientClosed() : asGatewayError(failure)),
      this.#clock.now(),
    );
    this.#body.cancel(attempt.error);
  }

  /**
   * Takes arrived bytes. A body that ends before the dialect's end mark and before the reply's end
   * is a cut stream.
   */
  async #read(): Promise<void> {
    const turn = this.#pieces.arrival();
    if (turn !== undefined) await turn;
    const chunks = this.#pieces.take();
    if (chunks === undefined && this.#isEnded) {
      if (!this.#output.isFinished) {
        throw new GatewayError(
          "stream_truncated",
          "The upstream's stream ended before its end mark; the reply is incomplete.",
        );
      }
      this.#output.done();
      return;
    }
    try {
      if (chunks === undefined) {
        this.#isEnded = true;
        this.#events.end();
        if (!this.#output.isDone) this.#options.translator.end?.(this.#output);
      } else {
        for (const chunk of chunks) this.#events.push(chunk);
      }
    } catch (error) {
      const { clean } = this.#options;
      this.#failure = clean === undefined ? error : clean(error);
    }
  }
}

function clientClosed(): GatewayError {
  return new GatewayError("client_closed", "The client closed the connection.");
}

function noStream({ response, attempt }: StreamOptions): GatewayError {
  response.body.cancel();
  attempt.unbilled();
  return new GatewayError(
    "upstream_invalid_response",
    "The upstream answered a streaming request with a reply that is not a stream.",
  );
}
