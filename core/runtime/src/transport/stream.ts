/** A streamed reply: reads events, returns frames, primed to its first content. */

import {
  type AttemptWriter,
  type Clock,
  type EventReader,
  type Frame,
  type FrameRole,
  GatewayError,
  type StreamFraming,
  type StreamReply,
  type StreamSink,
  type StreamTranslator,
  type Usage,
} from "@sluice/contract";
import { isFinished } from "../openai/repair/finished.ts";
import { ObservedText } from "../openai/tokens/observed-text.ts";
import { createStreamReader } from "../stream/reader.ts";
import type { ResponseBody } from "@sluice/kit/internals";
import { asGatewayError } from "@sluice/kit/internals";
import { type FirstContent, limitFirstContent } from "./replies/first-content.ts";
import { type CommitAfter, Hold } from "./hold.ts";
import { nextTurn } from "@sluice/kit/internals";
import type { UpstreamResponse } from "@sluice/kit/internals";
import { foreignReplyId } from "./upstream-request-id.ts";

/** Options of a stream. */
export interface StreamOptions {
  readonly response: UpstreamResponse;
  readonly translator: StreamTranslator;
  /** The provider's own framing. Absent: server-sent events only. */
  readonly framing?: StreamFraming | undefined;
  readonly attempt: AttemptWriter;
  /** The id of chunks where the gateway chooses it. */
  readonly replyId: string;
  readonly includeUsage: boolean;
  readonly clock: Clock;
  /** The attempt's beginning on the monotonic clock. */
  readonly startedMs: number;
  /** Holds the stream beyond its first content. Absent: not held. */
  readonly commitAfter?: CommitAfter | undefined;
  /** The maximum time without content. Absent: unlimited while events arrive. */
  readonly firstContent?: FirstContent | undefined;
  /** Called once, when the first unreadable event is left out. */
  readonly onDropped?: (() => void) | undefined;
  /** Removes confidential parts from an error. Absent: unchanged. */
  readonly clean?: ((error: unknown) => unknown) | undefined;
}

/** Grace time for the connection to end after the stream's end mark. */
const END_GRACE_MS = 1_000;
/**
 * Maximum bytes that are processed in one turn. A larger chunk is split, and each piece waits for a
 * turn of its own.
 */
const TURN_BYTES = 16_384;

/**
 * Opens a stream and reads it to its first content, or as far as `commitAfter` requires. Throws an
 * earlier failure. Later failures are thrown by the frames, which record the attempt's end in every
 * case.
 */
export async function openStream(options: StreamOptions): Promise<StreamReply> {
  const reader = new StreamReader(options);
  await reader.prime(options.commitAfter, options.firstContent);
  return { kind: "stream", status: 200, frames: reader.frames() };
}

/** Reads the body, feeds the translator and queues its output. */
class StreamReader implements StreamSink {
  committed = false;
  readonly #body: ResponseBody;
  readonly #events: EventReader;
  readonly #translator: StreamTranslator;
  readonly #attempt: AttemptWriter;
  readonly #replyId: string;
  readonly #includeUsage: boolean;
  readonly #clock: Clock;
  readonly #startedMs: number;
  readonly #onDropped: (() => void) | undefined;
  readonly #clean: ((error: unknown) => unknown) | undefined;
  #queue: Frame[] = [];
  /** Pieces that wait for a turn of their own, the next one last. */
  #later: Uint8Array[] = [];
  #lastContent: Frame | undefined;
  #isDone = false;
  #isEnded = false;
  /** The translator's error after frames that may still be delivered. */
  #failure: unknown;
  readonly #observed = new ObservedText();

  constructor(options: StreamOptions) {
    const { response, translator, framing, attempt, replyId, includeUsage, clock, startedMs, onDropped, clean } = options;
    this.#body = response.body;
    this.#translator = translator;
    this.#attempt = attempt;
    attempt.observe(this.#observed);
    this.#replyId = replyId;
    this.#includeUsage = includeUsage;
    this.#clock = clock;
    this.#startedMs = startedMs;
    this.#onDropped = onDropped;
    this.#clean = clean;
    const type = response.headers["content-type"];
    const events = createStreamReader(typeof type === "string" ? type : "", framing, (event) => {
      if (!this.#isDone) translator.event(event, this);
    });
    if (events === undefined) {
      response.body.cancel();
      attempt.unbilled();
      throw new GatewayError(
        "upstream_invalid_response",
        "The upstream answered a streaming request with a reply that is not a stream.",
      );
    }
    this.#events = events;
  }

  frame(frame: Frame, role: FrameRole): void {
    if (role === "usage" && !this.#includeUsage) return;
    if (role === "content" && !this.committed) {
      this.committed = true;
      this.#attempt.firstContent(this.#clock.now());
      this.#attempt.waited(this.#clock.monotonic() - this.#startedMs);
      // The translator parsed a frame with the upstream's id; a frame of the gateway shows its own
      // id as text.
      if (frame.raw?.includes(this.#replyId) !== true) this.#attempt.identify(foreignReplyId(frame.chunk().id, this.#replyId));
    }
    if (role === "content") this.#lastContent = frame;
    // Kept in case no usage follows; not needed once one with completion tokens has arrived.
    if (role === "content" && (this.#attempt.usage?.completionTokens ?? 0) === 0) this.#observed.add(frame);
    this.#queue.push(frame);
  }

  dropped(): void {
    this.#attempt.drop();
    if (this.#attempt.droppedEvents === 1) this.#onDropped?.();
  }

  usage(usage: Usage): void {
    this.#attempt.report(usage);
  }

  done(): void {
    this.#isDone = true;
  }

  async prime(commitAfter: CommitAfter | undefined, firstContent: FirstContent | undefined): Promise<void> {
    const spentMs = this.#clock.monotonic() - this.#startedMs;
    const endLimit =
      firstContent === undefined ? undefined : limitFirstContent(firstContent, spentMs, (error) => this.#body.cancel(error));
    try {
      while (!this.committed && !this.#isDone) {
        await this.#read();
        if (this.#failure !== undefined && !this.committed) throw this.#failure;
      }
      // A stream without content is valid if it has a chunk of the dialect.
      if (!this.committed && !this.#queue.some((frame) => Array.isArray(frame.chunk().choices))) {
        if (this.#queue.length === 0) this.#attempt.unbilled();
        throw new GatewayError("upstream_invalid_response", "The upstream's stream is empty.");
      }
      endLimit?.();
      if (commitAfter !== undefined && this.committed) await this.#hold(commitAfter);
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
        for (const frame of this.#queue.slice(measured)) hold.add(frame);
        measured = this.#queue.length;
        // No frame was returned, so the attempt failed, even if the stream had enough content
        // before.
        if (this.#failure !== undefined) throw this.#failure;
        if (isDue || hold.isFull || this.#isDone) return;
        await this.#read();
      }
    } finally {
      clearTimeout(timer);
    }
  }

  /** The frames. A generator that never began runs no `finally`: its `return` calls `#giveUp`. */
  frames(): AsyncGenerator<Frame, void, undefined> {
    const frames = this.#frames();
    const close = frames.return.bind(frames);
    frames.return = (value) => {
      this.#giveUp();
      return close(value);
    };
    return frames;
  }

  async *#frames(): AsyncGenerator<Frame, void, undefined> {
    try {
      for (;;) {
        const queue = this.#queue;
        if (queue.length > 0) {
          this.#queue = [];
          for (const frame of queue) yield frame;
        }
        if (this.#failure !== undefined) throw this.#failure;
        if (this.#isDone) break;
        await this.#read();
      }
      // Another reader may have read it to its end after its own client was cut.
      this.#attempt.succeed(this.#clock.now());
      this.#body.release(END_GRACE_MS);
    } catch (error) {
      const failure = asGatewayError(error);
      this.#attempt.interrupt(failure);
      throw failure;
    } finally {
      this.#giveUp();
    }
  }

  /** Without an outcome the stream was cut: by an error, or by a reader that left. */
  #giveUp(): void {
    const attempt = this.#attempt;
    if (attempt.outcome !== undefined) return;
    const { failure } = this.#body;
    attempt.cut(attempt.error ?? (failure === undefined ? clientClosed() : asGatewayError(failure)), this.#clock.now());
    this.#body.cancel(attempt.error);
  }

  /** Takes arrived bytes. A body that ends before the dialect's end mark and before the reply's end is a cut stream. */
  async #read(): Promise<void> {
    const chunks = this.#later.length > 0 ? await this.#nextPiece() : inPieces(await this.#body.read(), this.#later);
    if (chunks === undefined && this.#isEnded) {
      if (!isFinished(this.#lastContent, this.#attempt.usage)) {
        throw new GatewayError("stream_truncated", "The upstream's stream ended before its end mark; the reply is incomplete.");
      }
      this.#isDone = true;
      return;
    }
    try {
      if (chunks === undefined) {
        this.#isEnded = true;
        this.#events.end();
        if (!this.#isDone) this.#translator.end?.(this);
      } else {
        for (const chunk of chunks) this.#events.push(chunk);
      }
    } catch (error) {
      this.#failure = this.#clean === undefined ? error : this.#clean(error);
    }
  }

  /** Waits for a turn: one large chunk holds many events. */
  async #nextPiece(): Promise<readonly Uint8Array[]> {
    await nextTurn();
    const piece = this.#later.pop();
    return piece === undefined ? [] : [piece];
  }
}

function clientClosed(): GatewayError {
  return new GatewayError("client_closed", "The client closed the connection.");
}

/**
 * The bytes for this turn. If there are too many, returns none and puts all into `later`, in
 * pieces, the next one last.
 */
function inPieces(chunks: readonly Uint8Array[] | undefined, later: Uint8Array[]): readonly Uint8Array[] | undefined {
  if (chunks === undefined) return undefined;
  let bytes = 0;
  for (const chunk of chunks) bytes += chunk.length;
  if (bytes <= TURN_BYTES) return chunks;
  for (const chunk of chunks) {
    for (let at = 0; at < chunk.length; at += TURN_BYTES) later.push(chunk.subarray(at, at + TURN_BYTES));
  }
  later.reverse();
  return [];
}
