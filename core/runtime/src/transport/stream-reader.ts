/** Reads a streamed reply: takes bytes as they arrive, and returns frames. */

import {
  type AttemptWriter,
  type Clock,
  type EventReader,
  GatewayError,
  type StreamFraming,
} from "@sluice/contract";
import {
  asGatewayError,
  type BatchSource,
  type FrameBatch,
  type ResponseBody,
  type UpstreamResponse,
} from "@sluice/kit/internals";
import { type OutputOptions, StreamOutput } from "../stream/output.ts";
import type { BodyFilter } from "../passthrough/credential-values.ts";
import { createFormedReader } from "../stream/reader.ts";
import { BodyPieces } from "./replies/body-pieces.ts";

/** Options of a reader. */
export interface ReaderOptions extends OutputOptions {
  readonly response: UpstreamResponse;
  /** The provider's own framing. Absent: server-sent events only. */
  readonly framing?: StreamFraming | undefined;
  /** Removes confidential parts from an error. Absent: unchanged. */
  readonly clean?: ((error: unknown) => unknown) | undefined;
  /** Masks the call's credential in the bytes. Absent: unchanged. */
  readonly masker?: BodyFilter | undefined;
}

/** Grace time for the connection to end after the stream's end mark. */
const END_GRACE_MS = 1_000;

/** Reads the body into the output, and returns the frames of each arrival as one batch. */
export class StreamReader implements BatchSource {
  readonly output: StreamOutput;
  readonly #body: ResponseBody;
  readonly #events: EventReader;
  readonly #options: ReaderOptions;
  readonly #attempt: AttemptWriter;
  readonly #clock: Clock;
  readonly #pieces: BodyPieces;
  #isEnded = false;
  #isOver = false;
  #failure: unknown;

  /** Throws `upstream_invalid_response` for a reply that is not a stream. */
  constructor(options: ReaderOptions) {
    const { response, attempt } = options;
    this.#body = response.body;
    this.#pieces = new BodyPieces(response.body);
    this.#options = options;
    this.#attempt = attempt;
    this.#clock = options.clock;
    this.output = new StreamOutput(options);
    const type = response.headers["content-type"];
    const events = createFormedReader(
      typeof type === "string" ? type : "",
      options.framing,
      this.output,
    );
    if (events === undefined) throw noStream(options);
    this.#events = events;
  }

  /** The translator's error after frames that may still be delivered; `undefined` without one. */
  get failure(): unknown {
    return this.#failure;
  }

  get isAtEnd(): boolean {
    const { isDone, isEmpty, relay } = this.output;
    return isDone && isEmpty && relay?.isEmpty !== false && this.#failure === undefined;
  }

  get relays(): string | undefined {
    return this.output.relay?.dialect;
  }

  /**
   * Takes the bytes of the next arrival. A body that ends before the dialect's end mark and before
   * the reply's end is a cut stream.
   */
  async read(): Promise<void> {
    const turn = this.#pieces.arrival();
    if (turn !== undefined) await turn;
    this.#take();
  }

  #take(): void {
    const chunks = this.#pieces.take();
    if (chunks === undefined && this.#isEnded) {
      if (!this.output.isFinished) {
        throw new GatewayError(
          "stream_truncated",
          "The upstream's stream ended before its end mark; the reply is incomplete.",
        );
      }
      this.output.done();
      return;
    }
    try {
      if (chunks !== undefined) {
        const { masker } = this.#options;
        for (const chunk of chunks) this.#events.push(masker?.push(chunk) ?? chunk);
      }
      // Dialects without an end mark end with the body: its last frames and the end are one write.
      if (chunks === undefined || this.#pieces.isOver) this.#end();
    } catch (error) {
      const { clean } = this.#options;
      this.#failure = clean === undefined ? error : clean(error);
    }
  }

  /** Reads the end of the body. */
  #end(): void {
    this.#isEnded = true;
    const rest = this.#options.masker?.end();
    if (rest !== undefined) this.#events.push(rest);
    this.#events.end();
    if (!this.output.isDone) this.#options.translator.end?.(this.output);
  }

  /** The frames of the next arrival. */
  async next(): Promise<FrameBatch | undefined> {
    const output = this.output;
    try {
      while (!this.#isOver) {
        const batch = output.takeBatch();
        if (batch !== undefined) return batch;
        if (this.#failure !== undefined) throw this.#failure;
        if (output.isDone) {
          this.#succeed();
          continue;
        }
        const turn = this.#pieces.arrival();
        if (turn !== undefined) await turn;
        this.#take();
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
}

function clientClosed(): GatewayError {
  return new GatewayError("client_closed", "The client closed the connection.");
}

function noStream({ response, attempt }: ReaderOptions): GatewayError {
  response.body.cancel();
  attempt.unbilled();
  return new GatewayError(
    "upstream_invalid_response",
    "The upstream answered a streaming request with a reply that is not a stream.",
  );
}
