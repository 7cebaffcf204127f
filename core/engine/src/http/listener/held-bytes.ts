/** Held bytes: what request bodies and unread replies may keep in memory, of all requests together. */

import { getHeapStatistics } from "node:v8";
import { holderOf, type Holder, Parts } from "@sluice/kit/internals";
import { type Clock, GatewayError, type Identity } from "@sluice/contract";

/** What a request holds below this is bounded by the number of requests, and not counted. */
const FREE_BYTES = 16_384;
/** What one key may hold while anything is free, however many keys are busy. */
const MIN_BYTES = 1_048_576;
/** Beyond this share of the heap limit only small bodies are read; beyond the second one, none. */
const HIGH_SHARE = 0.85;
const FULL_SHARE = 0.95;
const SMALL_BODY_BYTES = 262_144;
/** The heap is looked at so often, at most. */
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

  /** An account for one request. `capacity`: what all may hold together. */
  open(capacity: number): HeldAccount {
    return new HeldAccount(this, capacity);
  }

  /** How full the heap is, as of 100 ms ago at most. */
  get heapShare(): number {
    const nowMs = this.#clock.monotonic();
    if (nowMs - this.#lookedMs >= LOOK_MS) {
      this.#lookedMs = nowMs;
      this.#share = this.#heapShare();
    }
    return this.#share;
  }
}

/** What one request holds. */
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
   * Counts a body that will have so many bytes, before it is read. Throws `body_too_large` for one that never fits, `overloaded`
   * for one that does not fit now, or that the heap has no room for.
   */
  takeBody(bytes: number, identity: Identity | undefined): void {
    const { heapShare } = this.#all;
    if (heapShare >= FULL_SHARE || (heapShare >= HIGH_SHARE && bytes > SMALL_BODY_BYTES)) {
      throw refusal("The gateway is short of memory.");
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
        : `This key, or its team, has its part of the bytes that the gateway may hold (max_held): ${parts.heldBy(this.#holder ?? holderOf(identity))} are the key's, ${parts.held} of ${this.#capacity} are in use.`,
    );
  }

  /** Counts so many more bytes. Returns false, and counts nothing, where there is no room for them. */
  take(bytes: number, identity: Identity | undefined): boolean {
    if (bytes <= FREE_BYTES || this.#isOver) return true;
    const holder = (this.#holder ??= holderOf(identity));
    const { parts } = this.#all;
    if (!parts.mayTake(holder, { capacity: this.#capacity, min: MIN_BYTES }, bytes)) return false;
    parts.take(holder, bytes);
    this.#bytes += bytes;
    return true;
  }

  /** Gives everything back. What comes later is not counted. */
  close(): void {
    this.#isOver = true;
    if (this.#bytes > 0 && this.#holder !== undefined) this.#all.parts.giveBack(this.#holder, this.#bytes);
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
