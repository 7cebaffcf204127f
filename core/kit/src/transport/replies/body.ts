/** The body of an upstream's response: collected within a bound, or read with back-pressure. */

import { GatewayError } from "@sluice/contract";
import { Collected, tooLarge } from "./collected.ts";
import { nextTurn } from "../turns.ts";
import { deadlinesOf } from "../../state/deadlines.ts";
import { type FlowControl, WaitingChunks } from "./waiting-chunks.ts";

/** Maximum bytes behind a stream's end mark (an empty line, a comment) on a reused connection. */
const MAX_TRAILER_BYTES = 1_024;

/** One response body. It has one reader, which either collects or iterates it. */
export class ResponseBody {
  readonly #waiting: WaitingChunks;
  readonly #cancel: (reason: unknown) => void;
  #isEnded = false;
  #failure: unknown;
  #wake: (() => void) | undefined;
  /** Set while the whole body is collected. Then nothing is paused. */
  #collected: Collected | undefined;
  /** Set while the rest is discarded: the bytes that may still follow. */
  #trailerBytes: number | undefined;

  constructor(flow: FlowControl, cancel: (reason: unknown) => void) {
    this.#waiting = new WaitingChunks(flow);
    this.#cancel = cancel;
  }

  /** Whether the upstream waits for the reader. */
  get isPaused(): boolean {
    return this.#waiting.isPaused;
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
      return;
    }
    if (this.#trailerBytes !== undefined) {
      this.#trailerBytes -= chunk.length;
      if (this.#trailerBytes < 0) this.#cancel(tooLarge());
      return;
    }
    this.#waiting.push(chunk);
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
   * `hold` refuses more, or with the transport's failure.
   */
  async collect(maxBytes: number, hold?: (bytes: number) => boolean): Promise<Uint8Array> {
    const collected = new Collected(maxBytes, hold);
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

  /** Wakes a waiting reader without chunks. */
  nudge(): void {
    this.#notify();
  }

  /** Resumes only now: while the reader works on the last chunks, nothing is read ahead. */
  async #resumed(): Promise<void> {
    // A turn, because the new data is a large piece of work.
    await nextTurn();
    this.#waiting.resume();
    // A resume may deliver the next chunk synchronously.
    if (this.#waiting.isEmpty && !this.#isEnded) await this.#awoken();
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
}
