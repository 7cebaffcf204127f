/** The body of an upstream's response: collected within a bound, or read with back-pressure. */

import { GatewayError } from "@sluice/contract";
import { mayMoveOn, moveLater } from "../moving.ts";
import { nextTurn } from "../turns.ts";
import { deadlinesOf } from "../../state/deadlines.ts";
import type { Holder } from "../../state/parts.ts";
import { Gathered } from "./gathered.ts";

/** Maximum bytes behind a stream's end mark (an empty line, a comment) on a reused connection. */
const MAX_TRAILER_BYTES = 1_024;
/** A larger body shares turns of the event loop with others; joining it is a piece of work. */
const LARGE_BYTES = 131_072;

/** Counts further bytes; false when the gateway has no memory for them. */
type Hold = (bytes: number) => boolean;

/** One response body. It has one reader, which either collects or iterates it. */
export class ResponseBody {
  /** Whose body it is; `undefined` where it is not known. */
  readonly holder: Holder | undefined;
  readonly #waiting: WaitingChunks;
  readonly #cancel: (reason: unknown) => void;
  #isEnded = false;
  #failure: unknown;
  #wake: (() => void) | undefined;
  /** Set while the whole body is collected. A small one is not paused. */
  #collected: Collected | undefined;
  /** Set while the rest is discarded: the bytes that may still follow. */
  #trailerBytes: number | undefined;

  constructor(flow: FlowControl, cancel: (reason: unknown) => void, holder?: Holder) {
    this.holder = holder;
    this.#waiting = new WaitingChunks(flow);
    this.#cancel = cancel;
  }

  /** Whether the upstream waits for the reader. */
  get isPaused(): boolean {
    return this.#waiting.isPaused;
  }

  /** Whether the body has ended without a failure, and no chunk waits. */
  get isOver(): boolean {
    return this.#isEnded && this.#failure === undefined && this.#waiting.isEmpty;
  }

  /** The reason for the break of the body; `undefined` without one. */
  get failure(): unknown {
    return this.#failure;
  }

  /** Adds a chunk from the transport. */
  push(chunk: Uint8Array): void {
    if (this.#isEnded) return;
    if (this.#collected !== undefined) {
      const refusal = this.#collected.push(chunk);
      if (refusal !== undefined) this.#cancel(refusal);
      else if (this.#collected.isLarge)
        this.#waiting.shareTurn(chunk, this.holder, () => this.#isEnded);
      return;
    }
    if (this.#trailerBytes !== undefined) {
      this.#trailerBytes -= chunk.length;
      if (this.#trailerBytes < 0) this.#cancel(tooLarge());
      return;
    }
    this.#waiting.push(chunk);
    this.nudge();
  }

  /** Ends the body. */
  end(): void {
    this.#isEnded = true;
    this.nudge();
  }

  /** Breaks the body with a failure of the transport. */
  fail(reason: unknown): void {
    if (this.#isEnded) return;
    this.#failure = reason;
    this.end();
  }

  /** Stops reading: the connection is destroyed unless the body has already ended. */
  cancel(reason?: unknown): void {
    if (this.#isEnded) return;
    this.#cancel(reason ?? new GatewayError("client_closed", "The reply is no longer wanted."));
  }

  /** Discards the rest, so that the connection can be reused. Cancels it after the grace time. */
  release(graceMs: number): void {
    if (this.#isEnded) return;
    this.#trailerBytes = MAX_TRAILER_BYTES;
    const grace = deadlinesOf(graceMs).begin(() => this.cancel());
    this.#wake = () => grace.end();
    // A resume may deliver the end synchronously.
    this.#waiting.resume();
  }

  /**
   * The whole body. Rejects with `upstream_invalid_response` over the limit, with `overloaded` when
   * `hold` refuses more, or with the transport's failure. `announced`: the length in the head, or
   * 0. It is counted before the bytes arrive.
   */
  async collect(maxBytes: number, hold?: Hold, announced = 0): Promise<Uint8Array> {
    const collected = new Collected(maxBytes, hold, announced);
    const refusal = collected.pushAll(this.#waiting.take());
    this.#collected = collected;
    if (refusal !== undefined) {
      this.cancel(refusal);
      throw refusal;
    }
    this.#waiting.resume();
    if (!this.#isEnded) await this.#awoken();
    // The transport refers to this object for long: it must not keep the bytes and the exchange.
    this.#collected = undefined;
    if (this.#failure !== undefined) throw this.#failure;
    if (collected.length > LARGE_BYTES) await nextTurn(undefined, this.holder);
    return collected.take();
  }

  /** Waits for an arrival, and takes it. Rejects with the failure. */
  async read(): Promise<readonly Uint8Array[] | undefined> {
    const arrival = this.arrival();
    if (arrival !== undefined) await arrival;
    return this.take();
  }

  /** The promise to await before `take` has a result; `undefined` when it has one. */
  arrival(): Promise<void> | undefined {
    if (!this.#waiting.isEmpty || this.#isEnded) return undefined;
    return this.#waiting.isPaused ? this.#resumed() : this.#awoken();
  }

  /**
   * The chunks that have arrived; `undefined` at the end, empty while there are none and after a
   * `nudge`. Throws the failure behind the chunks.
   */
  take(): readonly Uint8Array[] | undefined {
    const chunks = this.#waiting.take();
    if (chunks !== undefined) return chunks;
    if (this.#failure !== undefined) throw this.#failure;
    return this.#isEnded ? undefined : [];
  }

  /** Wakes a waiting reader, also without chunks. */
  nudge(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }

  /** Resumes only now: while the reader works on the last chunks, nothing is read ahead. */
  async #resumed(): Promise<void> {
    // A turn, because the new data is a large piece of work.
    await nextTurn(undefined, this.holder);
    this.#waiting.resume();
    // A resume may deliver the next chunk synchronously.
    if (this.#waiting.isEmpty && !this.#isEnded) await this.#awoken();
  }

  #awoken(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}

/** The unit in which a collected reply is counted. */
const HELD_STEP_BYTES = 65_536;

/** The collected bytes of one reply. */
class Collected {
  readonly #gathered: Gathered;
  readonly #announced: number;
  readonly #maxBytes: number;
  readonly #hold: Hold | undefined;
  #heldBytes = 0;

  constructor(maxBytes: number, hold: Hold | undefined, announced: number) {
    this.#announced = announced;
    this.#gathered = new Gathered(announced <= maxBytes ? announced : 0);
    this.#maxBytes = maxBytes;
    this.#hold = hold;
  }

  /** Adds a chunk. Returns the reason why the reply is refused, if it is. */
  push(chunk: Uint8Array): GatewayError | undefined {
    this.#gathered.push(chunk);
    return this.#refusal();
  }

  /** Adds the chunks that arrived before. Returns the reason why the reply is refused, if it is. */
  pushAll(chunks: readonly Uint8Array[] | undefined): GatewayError | undefined {
    if (chunks !== undefined) for (const chunk of chunks) this.#gathered.push(chunk);
    return this.#refusal();
  }

  /** Bytes so far. */
  get length(): number {
    return this.#gathered.length;
  }

  /** Whether it shares turns with others: it is large, and its announced end is not there yet. */
  get isLarge(): boolean {
    const { length } = this.#gathered;
    return length > LARGE_BYTES && length !== this.#announced;
  }

  /** All bytes in one piece. The last call on this object. */
  take(): Uint8Array {
    return this.#gathered.take();
  }

  #refusal(): GatewayError | undefined {
    if (Math.max(this.#announced, this.#gathered.length) > this.#maxBytes) return tooLarge();
    return this.#isHeld() ? undefined : noRoom();
  }

  /** Whether the gathered bytes are counted, or fit. */
  #isHeld(): boolean {
    const more = Math.max(this.#announced, this.#gathered.length) - this.#heldBytes;
    if (this.#hold === undefined || more <= 0) return true;
    const step = this.#heldBytes === 0 ? more : Math.max(more, HELD_STEP_BYTES);
    this.#heldBytes += step;
    return this.#hold(step);
  }
}

/** The refusal of a reply over its limit. */
export function tooLarge(): GatewayError {
  return new GatewayError(
    "upstream_invalid_response",
    "The upstream's reply is larger than the gateway accepts.",
  );
}

function noRoom(): GatewayError {
  const message =
    "The reply is larger than the gateway's free memory for replies and bodies (max_held).";
  return new GatewayError("overloaded", message, { retryAfterMs: 1_000, retryable: false });
}

/** The part of undici's controller that a body needs. */
interface FlowControl {
  pause(): void;
  resume(): void;
}

/** The upstream is paused while more unread bytes than this wait, and resumed at the next read. */
const HIGH_WATER_BYTES = 16_384;
/** The limit within one socket read. A pause there would copy the rest repeatedly. */
const MIDDLE_HIGH_WATER_BYTES = 131_072;
/** A chunk with fewer bytes after it in its buffer is the last of its read: the rest is framing. */
const FRAMING_BYTES = 32;
/** What is behind the last chunk of a chunked body without trailers (RFC 9112, 7.1). */
const BODY_END = Buffer.from("\r\n0\r\n\r\n");
/**
 * Maximum chunks that wait separately. Each is an object and keeps the memory of its read; more are
 * joined.
 */
const MAX_WAITING_CHUNKS = 256;

/** The waiting chunks of one response. */
class WaitingChunks {
  readonly #flow: FlowControl;
  /** Absent while no chunk waits. */
  #chunks: Uint8Array[] | undefined;
  #bytes = 0;
  #isPaused = false;

  constructor(flow: FlowControl) {
    this.#flow = flow;
  }

  get isEmpty(): boolean {
    return this.#chunks === undefined;
  }

  /** Whether the upstream waits for the reader. */
  get isPaused(): boolean {
    return this.#isPaused;
  }

  /**
   * Adds a chunk. Many small chunks are joined, so that memory follows their bytes and not their
   * number.
   */
  push(chunk: Uint8Array): void {
    if (this.#chunks === undefined) this.#chunks = [chunk];
    else if (this.#chunks.push(chunk) > MAX_WAITING_CHUNKS)
      this.#chunks = [Buffer.concat(this.#chunks)];
    this.#bytes += chunk.length;
    const bound = isLastOfRead(chunk) ? HIGH_WATER_BYTES : MIDDLE_HIGH_WATER_BYTES;
    if (this.#bytes <= bound || this.#isPaused || isBeforeEnd(chunk)) return;
    this.#isPaused = true;
    this.#flow.pause();
  }

  /** Leaves what follows a chunk, which was not added, to a later turn if this one is full. */
  shareTurn(chunk: Uint8Array, holder: Holder | undefined, isOver: () => boolean): void {
    const isFull = !mayMoveOn(chunk.length);
    if (!isFull || this.#isPaused || !isLastOfRead(chunk) || isBeforeEnd(chunk)) return;
    this.#isPaused = true;
    this.#flow.pause();
    moveLater(() => {
      if (!isOver()) this.resume();
    }, holder);
  }

  /** The chunks; `undefined` while there are none. */
  take(): readonly Uint8Array[] | undefined {
    const chunks = this.#chunks;
    this.#chunks = undefined;
    this.#bytes = 0;
    return chunks;
  }

  /** Ends a pause. The next chunk may arrive synchronously. */
  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#flow.resume();
  }
}

/** Whether the end of the body is behind a chunk: a pause would hold back nothing else. */
function isBeforeEnd({ buffer, byteOffset, length }: Uint8Array): boolean {
  const at = byteOffset + length;
  return (
    buffer.byteLength - at === BODY_END.length &&
    BODY_END.equals(new Uint8Array(buffer, at, BODY_END.length))
  );
}

/** Whether a chunk is the last of the memory of its socket read. */
function isLastOfRead({ buffer, byteOffset, length }: Uint8Array): boolean {
  return buffer.byteLength - byteOffset - length < FRAMING_BYTES;
}
