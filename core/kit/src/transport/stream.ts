/** A streamed reply: events in, frames out, primed to its first content. */

import {
  type Attempt,
  type Clock,
  type Frame,
  type FrameRole,
  GatewayError,
  type StreamReply,
  type StreamSink,
  type StreamTranslator,
  type Usage,
} from "@sluice/spec";
import { isFinished } from "../openai/finished.ts";
import { ObservedText } from "../openai/observed-text.ts";
import type { EventReader } from "../stream/events.ts";
import { createStreamReader } from "../stream/reader.ts";
import type { ResponseBody } from "./body.ts";
import { asGatewayError } from "./errors.ts";
import { type FirstContent, limitFirstContent } from "./first-content.ts";
import { type CommitAfter, Hold } from "./hold.ts";
import { nextTurn } from "./turns.ts";
import type { UpstreamResponse } from "./upstream.ts";

/** What a stream is made from. */
export interface StreamOptions {
  readonly response: UpstreamResponse;
  readonly translator: StreamTranslator;
  readonly attempt: Attempt;
  readonly includeUsage: boolean;
  readonly clock: Clock;
  /** The attempt's beginning on the monotonic clock. */
  readonly startedMs: number;
  /** Holds the stream back beyond its first content. Absent: not at all. */
  readonly commitAfter?: CommitAfter | undefined;
  /** How long it may be without content. Absent: as long as something comes. */
  readonly firstContent?: FirstContent | undefined;
  /** Called once, when the first event that cannot be read is left out. */
  readonly onDropped?: (() => void) | undefined;
}

/** Time for the connection to end after the stream's own end mark. */
const END_GRACE_MS = 1_000;
/** Bytes that are read at once. Whoever brings more waits for a turn with each piece of it, as everybody else who does. */
const TURN_BYTES = 16_384;

/**
 * Opens a stream and reads it to its first content, or as far as `commitAfter` says. Throws whatever fails before that.
 * Afterwards the frames throw what fails, and record the attempt's end in every case.
 */
export async function openStream(options: StreamOptions): Promise<StreamReply> {
  const reader = new StreamReader(options);
  await reader.prime(options.commitAfter, options.firstContent);
  return { kind: "stream", status: 200, frames: reader.frames() };
}

/** Reads the body, feeds the translator and queues what it gives. */
class StreamReader implements StreamSink {
  committed = false;
  readonly #body: ResponseBody;
  readonly #events: EventReader;
  readonly #translator: StreamTranslator;
  readonly #attempt: Attempt;
  readonly #includeUsage: boolean;
  readonly #clock: Clock;
  readonly #startedMs: number;
  readonly #onDropped: (() => void) | undefined;
  #queue: Frame[] = [];
  /** What has arrived and waits for a turn of its own, the next piece last. */
  #later: Uint8Array[] = [];
  #lastContent: Frame | undefined;
  #isDone = false;
  #isEnded = false;
  /** What the translator threw after frames that may still be delivered. */
  #failure: unknown;
  readonly #observed = new ObservedText();

  constructor({ response, translator, attempt, includeUsage, clock, startedMs, onDropped }: StreamOptions) {
    this.#body = response.body;
    this.#translator = translator;
    this.#attempt = attempt;
    attempt.replyTexts = () => this.#observed.texts();
    attempt.replyScale = () => this.#observed.scale;
    this.#includeUsage = includeUsage;
    this.#clock = clock;
    this.#startedMs = startedMs;
    this.#onDropped = onDropped;
    const type = response.headers["content-type"];
    const events = createStreamReader(typeof type === "string" ? type : "", (event) => {
      if (!this.#isDone) translator.event(event, this);
    });
    if (events === undefined) {
      response.body.cancel();
      attempt.isUnanswered = false;
      throw new GatewayError(
        "upstream_invalid_response",
        "The upstream answered a streaming request with something that is no stream.",
      );
    }
    this.#events = events;
  }

  frame(frame: Frame, role: FrameRole): void {
    if (role === "usage" && !this.#includeUsage) return;
    if (role === "content" && !this.committed) {
      this.committed = true;
      this.#attempt.firstContentAtMs = this.#clock.now();
      this.#attempt.upstreamMs = this.#clock.monotonic() - this.#startedMs;
    }
    if (role === "content") this.#lastContent = frame;
    // Kept in case that no usage follows; one that has come makes it needless.
    if (role === "content" && this.#attempt.usage === undefined) this.#observed.add(frame);
    this.#queue.push(frame);
  }

  dropped(): void {
    const before = this.#attempt.droppedEvents ?? 0;
    this.#attempt.droppedEvents = before + 1;
    if (before === 0) this.#onDropped?.();
  }

  usage(usage: Usage): void {
    this.#attempt.usage = usage;
    this.#attempt.usageSource = "provider";
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
      // A stream that ends without content is believed when a chunk of the dialect came.
      if (!this.committed && !this.#queue.some((frame) => Array.isArray(frame.chunk().choices))) {
        if (this.#queue.length === 0) this.#attempt.isUnanswered = false;
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

  /** Reads on without handing out. What is held stays in the queue, so that nobody else's frames pay for it. */
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
        // Nothing was handed out, so even a stream that said enough before it failed has only failed.
        if (this.#failure !== undefined) throw this.#failure;
        if (isDue || hold.isFull || this.#isDone) return;
        await this.#read();
      }
    } finally {
      clearTimeout(timer);
    }
  }

  /** The frames. A generator that never began runs no `finally`: its `return` gives up by itself. */
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
      // It may have been read to its end for others, when what its own client gets was cut before.
      this.#attempt.outcome = this.#attempt.error === undefined ? "success" : "partial";
      this.#body.release(END_GRACE_MS);
    } catch (error) {
      this.#attempt.error = asGatewayError(error);
      throw this.#attempt.error;
    } finally {
      this.#giveUp();
      this.#attempt.endedAtMs = this.#clock.now();
    }
  }

  /** Without an outcome the stream was cut: by an error, or by a reader that went away. */
  #giveUp(): void {
    const attempt = this.#attempt;
    if (attempt.outcome !== undefined) return;
    attempt.outcome = "partial";
    attempt.error ??= this.#body.failure === undefined ? clientClosed() : asGatewayError(this.#body.failure);
    attempt.endedAtMs = this.#clock.now();
    this.#body.cancel(attempt.error);
  }

  /** Takes what has arrived. A body that ends without the dialect's end mark, and before the reply's end, is a cut stream. */
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
      this.#failure = error;
    }
  }

  /** Waits for a turn: the events of one large chunk are many. */
  async #nextPiece(): Promise<readonly Uint8Array[]> {
    await nextTurn();
    const piece = this.#later.pop();
    return piece === undefined ? [] : [piece];
  }
}

function clientClosed(): GatewayError {
  return new GatewayError("client_closed", "The client closed the connection.");
}

/** What may be read at once. When it is too much, nothing, and all is put into `later`, in pieces, the next one last. */
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
