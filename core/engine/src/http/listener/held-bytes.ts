/** Held bytes: the memory of request bodies and unread replies, bounded over all requests. */

import { getHeapStatistics } from "node:v8";
import { holderOf, type Holder, Parts } from "@sluice/kit/internals";
import { type Clock, GatewayError, type Identity } from "@sluice/contract";

/** Bytes of a request that are not counted: the number of requests bounds them. */
const FREE_BYTES = 16_384;
/** The bytes that one key may always hold while any are free. */
const MIN_BYTES = 1_048_576;
/** Beyond this share of the heap limit only small bodies are read; beyond the second one, none. */
const HIGH_SHARE = 0.85;
const FULL_SHARE = 0.95;
const SMALL_BODY_BYTES = 262_144;
/** Minimum time between two readings of the heap. */
const LOOK_MS = 100;
const RETRY_AFTER_MS = 1_000;

/** How much of its limit the heap has used, between 0 and 1. */
export type HeapShare = () => number;

/** The bytes of one process. Each key has a part of them, as of every bound that keys share. */
export class HeldBytes {
  readonly parts = new Parts();
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #heapShare: HeapShare;
  #share = 0;
  #lookedMs = -Infinity;

  constructor(clock: Pick<Clock, "monotonic">, heapShare: HeapShare = usedHeapShare) {
    this.#clock = clock;
    this.#heapShare = heapShare;
  }

  /** An account for one request. `capacity` is the maximum of all requests together. */
  open(capacity: number): HeldAccount {
    return new HeldAccount(this, capacity);
  }

  /** The used share of the heap, at most 100 ms old. */
  get heapShare(): number {
    const nowMs = this.#clock.monotonic();
    if (nowMs - this.#lookedMs >= LOOK_MS) {
      this.#lookedMs = nowMs;
      this.#share = this.#heapShare();
    }
    return this.#share;
  }
}

/** The bytes of one request. */
export class HeldAccount {
  readonly #all: HeldBytes;
  readonly #capacity: number;
  #holder: Holder | undefined;
  #bytes = 0;
  #isOver = false;

  constructor(all: HeldBytes, capacity: number) {
    this.#all = all;
    this.#capacity = capacity;
  }

  /**
   * Reserves the bytes of a body before it is read. Throws `body_too_large` for a body above the
   * capacity, `overloaded` for one that does not fit now or that the heap has no space for.
   */
  takeBody(bytes: number, identity: Identity | undefined): void {
    const { heapShare } = this.#all;
    if (heapShare >= FULL_SHARE || (heapShare >= HIGH_SHARE && bytes > SMALL_BODY_BYTES)) {
      throw refusal("The gateway is short of memory. Retry later.");
    }
    if (bytes > this.#capacity) {
      const message = `The body is larger than the ${this.#capacity} bytes that the gateway may hold (max_held).`;
      throw new GatewayError("body_too_large", message, CLOSE);
    }
    if (this.take(bytes, identity)) return;
    const { parts } = this.#all;
    const isFull = this.#capacity - parts.held < bytes;
    throw refusal(
      isFull
        ? `The gateway holds ${parts.held} of the ${this.#capacity} bytes of bodies and replies that it may hold (max_held).`
        : `This key, or its team, uses its part of the bytes that the gateway may hold (max_held): ${parts.heldBy(this.#holder ?? holderOf(identity))} are the key's, ${parts.held} of ${this.#capacity} are in use. Retry when a request has ended.`,
    );
  }

  /** Reserves more bytes. Returns false, and reserves none, when they do not fit. */
  take(bytes: number, identity: Identity | undefined): boolean {
    if (bytes <= FREE_BYTES || this.#isOver) return true;
    const holder = (this.#holder ??= holderOf(identity));
    const { parts } = this.#all;
    if (!parts.mayTake(holder, { capacity: this.#capacity, min: MIN_BYTES }, bytes)) return false;
    parts.take(holder, bytes);
    this.#bytes += bytes;
    return true;
  }

  /** Releases all bytes. Later ones are not counted. */
  close(): void {
    this.#isOver = true;
    if (this.#bytes > 0 && this.#holder !== undefined)
      this.#all.parts.giveBack(this.#holder, this.#bytes);
    this.#bytes = 0;
  }
}

/** The rest of the body is not read, so the connection cannot be used again. */
const CLOSE = { headers: { connection: "close" } };

function refusal(message: string): GatewayError {
  return new GatewayError("overloaded", message, { ...CLOSE, retryAfterMs: RETRY_AFTER_MS });
}

function usedHeapShare(): number {
  const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
  return used / limit;
}
