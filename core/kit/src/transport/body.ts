/** The body of an upstream's response: collected with a bound, or read as it comes with back-pressure. */

import { GatewayError } from "@sluice/spec";
import { Gathered } from "./gathered.ts";
import { nextTurn } from "./turns.ts";

/** The part of undici's controller that a body needs. */
export interface FlowControl {
  pause(): void;
  resume(): void;
}

/** The upstream is paused while more bytes than this wait to be read, and goes on when the reader comes back for more. */
const HIGH_WATER_BYTES = 16_384;
/** In the middle of one read of the socket it is not paused below this: what is left would be copied, again and again. */
const MIDDLE_HIGH_WATER_BYTES = 131_072;
/** A chunk with less than this behind it is the last of its read: the rest is framing. */
const FRAMING_BYTES = 32;
/** Chunks that wait for the reader one by one. Each is an object and keeps the memory of its read: more are joined. */
const MAX_WAITING_CHUNKS = 256;
/** Of a reply that is collected so much is counted at a time. */
const HELD_STEP_BYTES = 65_536;
/** What may follow the end mark of a stream: an empty line, a comment. A connection that says more is not used again. */
const AFTERWORD_BYTES = 1_024;

/** One response body. It has one reader, which either collects it or iterates it. */
export class ResponseBody {
  readonly #flow: FlowControl;
  readonly #cancel: (reason: unknown) => void;
  #chunks: Uint8Array[] = [];
  #waitingBytes = 0;
  #isPaused = false;
  #isEnded = false;
  #failure: unknown;
  #wake: (() => void) | undefined;
  /** While collecting: bytes that may still come, so that nothing is paused. */
  #roomBytes: number | undefined;
  /** What is collected; nothing while the rest is let go by. */
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

  /** Why the body broke off, `undefined` while it has not. */
  get failure(): unknown {
    return this.#failure;
  }

  /** Takes a chunk from the transport. */
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

  /** The transport saw the end. */
  end(): void {
    this.#isEnded = true;
    this.#notify();
  }

  /** The transport failed. */
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
   * Lets the rest go by unread, so that the connection can be used again. A body that has not ended after the grace time
   * is cancelled.
   */
  release(graceMs: number): void {
    if (this.#isEnded) return;
    this.#roomBytes = AFTERWORD_BYTES;
    this.#resume();
    const timer = setTimeout(() => this.cancel(), graceMs);
    timer.unref();
    this.#wake = () => clearTimeout(timer);
  }

  /**
   * The whole body. Rejects with `upstream_invalid_response` over the limit, with `overloaded` when `hold` has no room for more, or
   * with the transport's failure.
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
    if (!this.#isEnded) await this.#arrival();
    // The transport refers to this object until a full collection: the bytes and the exchange must not stay with it.
    this.#gathered = undefined;
    this.#hold = undefined;
    if (this.#failure !== undefined) throw this.#failure;
    return gathered.take();
  }

  /**
   * The beginning of the body: what has come within these bounds, and before any failure. A body that goes on is cancelled.
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
      // A beginning is all that was asked for.
    } finally {
      clearTimeout(timer);
    }
    return gathered.take().subarray(0, maxBytes);
  }

  /** The chunks that have arrived, waiting for the next one; `undefined` at the end, none after a `nudge`. Rejects with the failure. */
  async read(): Promise<readonly Uint8Array[] | undefined> {
    if (this.#chunks.length === 0 && !this.#isEnded) {
      // Only here, and not when the last chunks were handed out: as long as the reader has work, nothing is read ahead. And in
      // turn: what comes is a large piece of work.
      if (this.#isPaused) await nextTurn();
      this.#resume();
    }
    // To resume may bring the next chunk at once.
    if (this.#chunks.length === 0 && !this.#isEnded) await this.#arrival();
    if (this.#chunks.length > 0) {
      const chunks = this.#chunks;
      this.#chunks = [];
      this.#waitingBytes = 0;
      return chunks;
    }
    if (this.#failure !== undefined) throw this.#failure;
    return this.#isEnded ? undefined : [];
  }

  /** Lets a reader that waits go on with nothing. */
  nudge(): void {
    this.#notify();
  }

  /** Keeps a chunk for the reader. Of many small ones that wait, the memory is bounded by their bytes and not by their number. */
  #keep(chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    if (this.#chunks.length > MAX_WAITING_CHUNKS) this.#chunks = [Buffer.concat(this.#chunks)];
  }

  /** Whether what is gathered is counted, or has room to be. */
  #isHeld(): boolean {
    const hold = this.#hold;
    const more = (this.#gathered?.length ?? 0) - this.#heldBytes;
    if (hold === undefined || more <= 0) return true;
    const step = this.#heldBytes === 0 ? more : Math.max(more, HELD_STEP_BYTES);
    this.#heldBytes += step;
    return hold(step);
  }

  #arrival(): Promise<void> {
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

/** Whether the memory of a chunk, that of one read, ends with it. */
function isLastOfRead({ buffer, byteOffset, length }: Uint8Array): boolean {
  return buffer.byteLength - byteOffset - length < FRAMING_BYTES;
}

function noRoom(): GatewayError {
  const message = "The reply is larger than the room that the gateway has for replies and bodies at the moment (max_held).";
  return new GatewayError("overloaded", message, { retryAfterMs: 1_000, retryable: false });
}

function tooLarge(): GatewayError {
  return new GatewayError("upstream_invalid_response", "The upstream's reply is larger than the gateway accepts.");
}
