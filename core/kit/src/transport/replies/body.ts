/** The body of an upstream's response: collected within a bound, or read with back-pressure. */

import { GatewayError } from "@sluice/contract";
import { Gathered } from "./gathered.ts";
import { nextTurn } from "../turns.ts";

/** The part of undici's controller that a body needs. */
export interface FlowControl {
  pause(): void;
  resume(): void;
}

/** The upstream is paused while more unread bytes than this wait, and resumed at the next read. */
const HIGH_WATER_BYTES = 16_384;
/** The limit within one socket read. A pause there would copy the rest repeatedly. */
const MIDDLE_HIGH_WATER_BYTES = 131_072;
/** A chunk with fewer bytes after it in its buffer is the last of its read: the rest is framing. */
const FRAMING_BYTES = 32;
/** Maximum chunks that wait separately. Each is an object and keeps the memory of its read; more are joined. */
const MAX_WAITING_CHUNKS = 256;
/** The unit in which a collected reply is counted. */
const HELD_STEP_BYTES = 65_536;
/** Bytes that may follow the end mark of a stream: an empty line, a comment. A connection with more is not reused. */
const MAX_TRAILER_BYTES = 1_024;

/** One response body. It has one reader, which either collects or iterates it. */
export class ResponseBody {
  readonly #flow: FlowControl;
  readonly #cancel: (reason: unknown) => void;
  #chunks: Uint8Array[] = [];
  #waitingBytes = 0;
  #isPaused = false;
  #isEnded = false;
  #failure: unknown;
  #wake: (() => void) | undefined;
  /** While collecting: the remaining allowed bytes, so that nothing is paused. */
  #roomBytes: number | undefined;
  /** The collected bytes; absent while the rest is discarded. */
  #gathered: Gathered | undefined;
  #hold: ((bytes: number) => boolean) | undefined;
  #heldBytes = 0;

  constructor(flow: FlowControl, cancel: (reason: unknown) => void) {
    this.#flow = flow;
    this.#cancel = cancel;
  }

  /** Whether the upstream waits for the reader. */
  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** The reason for the break of the body; `undefined` without one. */
  get failure(): unknown {
    return this.#failure;
  }

  /** Adds a chunk from the transport. */
  push(chunk: Uint8Array): void {
    if (this.#isEnded) return;
    if (this.#roomBytes !== undefined) {
      this.#gathered?.push(chunk);
      this.#roomBytes -= chunk.length;
      if (this.#roomBytes < 0) this.#cancel(tooLarge());
      else if (!this.#isHeld()) this.#cancel(noRoom());
      return;
    }
    this.#keep(chunk);
    this.#waitingBytes += chunk.length;
    const bound = isLastOfRead(chunk) ? HIGH_WATER_BYTES : MIDDLE_HIGH_WATER_BYTES;
    if (this.#waitingBytes > bound && !this.#isPaused) {
      this.#isPaused = true;
      this.#flow.pause();
    }
    this.#notify();
  }

  /** Ends the body. */
  end(): void {
    this.#isEnded = true;
    this.#notify();
  }

  /** Breaks the body with a failure of the transport. */
  fail(reason: unknown): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#failure = reason;
    this.#notify();
  }

  /** Stops reading: the connection is destroyed unless the body has already ended. */
  cancel(reason: unknown = new GatewayError("client_closed", "The reply is no longer wanted.")): void {
    if (!this.#isEnded) this.#cancel(reason);
  }

  /**
   * Discards the rest, so that the connection can be reused. A body that has not ended after the
   * grace time is cancelled.
   */
  release(graceMs: number): void {
    if (this.#isEnded) return;
    this.#roomBytes = MAX_TRAILER_BYTES;
    this.#resume();
    const timer = setTimeout(() => this.cancel(), graceMs);
    timer.unref();
    this.#wake = () => clearTimeout(timer);
  }

  /**
   * The whole body. Rejects with `upstream_invalid_response` over the limit, with `overloaded` when
   * `hold` refuses more, or with the transport's failure.
   */
  async collect(maxBytes: number, hold?: (bytes: number) => boolean): Promise<Uint8Array> {
    this.#hold = hold;
    this.#roomBytes = maxBytes - this.#waitingBytes;
    if (this.#roomBytes < 0) {
      this.cancel(tooLarge());
      throw tooLarge();
    }
    const gathered = new Gathered();
    for (const chunk of this.#chunks) gathered.push(chunk);
    this.#chunks = [];
    this.#gathered = gathered;
    if (!this.#isHeld()) {
      this.cancel(noRoom());
      throw noRoom();
    }
    this.#resume();
    if (!this.#isEnded) await this.#awoken();
    // The transport refers to this object until a full collection: it must not keep the bytes and
    // the exchange.
    this.#gathered = undefined;
    this.#hold = undefined;
    if (this.#failure !== undefined) throw this.#failure;
    return gathered.take();
  }

  /**
   * The beginning of the body: the bytes that arrive within these bounds, before any failure. A
   * longer body is cancelled.
   */
  async excerpt(maxBytes: number, maxMs: number): Promise<Uint8Array> {
    const gathered = new Gathered();
    const timer = setTimeout(() => this.cancel(tooLarge()), maxMs);
    try {
      for (let more = await this.read(); more !== undefined; more = await this.read()) {
        for (const chunk of more) gathered.push(chunk);
        if (gathered.length > maxBytes) this.cancel(tooLarge());
      }
    } catch {
      // Only the beginning was needed.
    } finally {
      clearTimeout(timer);
    }
    return gathered.take().subarray(0, maxBytes);
  }

  /**
   * The chunks that have arrived, after a wait for the next one; `undefined` at the end, empty
   * after a `nudge`. Rejects with the failure.
   */
  async read(): Promise<readonly Uint8Array[] | undefined> {
    const arrival = this.arrival();
    if (arrival !== undefined) await arrival;
    return this.take();
  }

  /** The promise to await before `take` has a result; `undefined` when it has one. */
  arrival(): Promise<void> | undefined {
    if (this.#chunks.length > 0 || this.#isEnded) return undefined;
    return this.#isPaused ? this.#resumed() : this.#awoken();
  }

  /** The chunks that have arrived; `undefined` at the end, empty while there are none. Throws the failure behind the chunks. */
  take(): readonly Uint8Array[] | undefined {
    if (this.#chunks.length > 0) {
      const chunks = this.#chunks;
      this.#chunks = [];
      this.#waitingBytes = 0;
      return chunks;
    }
    if (this.#failure !== undefined) throw this.#failure;
    return this.#isEnded ? undefined : [];
  }

  /** Wakes a waiting reader without chunks. */
  nudge(): void {
    this.#notify();
  }

  /**
   * Keeps a chunk for the reader. Many small waiting chunks are joined, so that memory follows
   * their bytes and not their number.
   */
  #keep(chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    if (this.#chunks.length > MAX_WAITING_CHUNKS) this.#chunks = [Buffer.concat(this.#chunks)];
  }

  /** Whether the gathered bytes are counted, or fit. */
  #isHeld(): boolean {
    const hold = this.#hold;
    const more = (this.#gathered?.length ?? 0) - this.#heldBytes;
    if (hold === undefined || more <= 0) return true;
    const step = this.#heldBytes === 0 ? more : Math.max(more, HELD_STEP_BYTES);
    this.#heldBytes += step;
    return hold(step);
  }

  /** Resumed here and not when the last chunks were returned: while the reader works, nothing is read ahead. */
  async #resumed(): Promise<void> {
    // A turn, because the new data is a large piece of work.
    await nextTurn();
    this.#resume();
    // A resume may deliver the next chunk synchronously.
    if (this.#chunks.length === 0 && !this.#isEnded) await this.#awoken();
  }

  #awoken(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #notify(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }

  #resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#flow.resume();
  }
}

/** Whether a chunk is the last of the memory of its socket read. */
function isLastOfRead({ buffer, byteOffset, length }: Uint8Array): boolean {
  return buffer.byteLength - byteOffset - length < FRAMING_BYTES;
}

function noRoom(): GatewayError {
  const message = "The reply is larger than the gateway's free memory for replies and bodies (max_held).";
  return new GatewayError("overloaded", message, { retryAfterMs: 1_000, retryable: false });
}

function tooLarge(): GatewayError {
  return new GatewayError("upstream_invalid_response", "The upstream's reply is larger than the gateway accepts.");
}
