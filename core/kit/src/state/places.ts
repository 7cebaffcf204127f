/**
 * Places: a bounded number of concurrent users with a bounded queue, both with a part for each key.
 */

import { GatewayError } from "@sluice/contract";
import { deadlinesOf } from "./deadlines.ts";
import type { Ending } from "./late-signal.ts";
import { type Holder, Parts } from "./parts.ts";
import { type Waiter, WaitQueue } from "./wait-queue.ts";

/** The number of places, and the maximum wait for one. */
export interface PlaceLimits {
  readonly places: number;
  /** Maximum number of waiting requests. */
  readonly queue: number;
  readonly waitMs: number;
  /** The owner of the places, as the subject of a message: `The provider openai`. */
  readonly what: string;
  /** The share of the places for a single holder. Default 0.5. */
  readonly share?: number;
  /**
   * Whether a holder may use all but an eighth of the places, and all of fewer than eight, after a
   * minute without another holder. Default false: it has a half.
   */
  readonly mayHaveAll?: boolean;
}

interface Request extends Waiter {
  readonly limits: PlaceLimits;
  readonly admit: () => void;
  readonly refuse: (error: unknown) => void;
}

/**
 * After this time without another holder, and in a process that has seen no other, a holder counts
 * as the only one.
 */
const ALONE_MS = 60_000;
/** One place of so many is kept for a holder that comes while the only one uses the rest. */
const KEPT_OF = 8;
const MIN_RETRY_AFTER_MS = 1_000;

/**
 * Counts places in use. Waiting keys are served in round-robin order, the requests of one key in
 * order of arrival. When the queue is full, the key with the most waiting requests loses its newest
 * one to a key with fewer.
 */
export class Places {
  readonly #parts = new Parts();
  readonly #queue = new WaitQueue<Request>();
  readonly #now: () => number;
  #lastKey: string | undefined;
  #lastChangeMs = -Infinity;

  /** `now` returns monotonic milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  get inFlight(): number {
    return this.#parts.held;
  }

  get queued(): number {
    return this.#queue.length;
  }

  /** Whether a holder gets a place without a wait. */
  hasRoom(holder: Holder, limits: PlaceLimits): boolean {
    return this.#queue.lengthOf(holder) === 0 && this.#mayTake(holder, limits);
  }

  /** Whether a request of a holder may wait. */
  hasQueue(holder: Holder, { queue }: PlaceLimits): boolean {
    return (
      this.#queue.length < queue || (queue > 0 && this.#queue.displacedBy(holder) !== undefined)
    );
  }

  /** Takes a place. The caller has checked `hasRoom`. */
  take(holder: Holder): void {
    this.#see(holder);
    this.#parts.take(holder);
  }

  /**
   * Waits for a place and takes it. Rejects with the signal's reason. Rejects with `overloaded`
   * when the queue is full, the wait is too long, or a key with fewer waiting requests needs the
   * place in the queue.
   */
  wait(holder: Holder, limits: PlaceLimits, signal: Ending): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) throw signal.reason;
      this.#see(holder);
      this.#makeRoom(holder, limits);
      const leave = (reason: unknown): void => {
        this.#queue.remove(waiter);
        waiter.refuse(reason);
      };
      const onAbort = (): void => leave(signal.reason);
      const deadline = deadlinesOf(limits.waitMs).begin(() => leave(this.#tooLong(holder, limits)));
      const clear = (): void => {
        deadline.end();
        signal.removeEventListener("abort", onAbort);
      };
      const waiter: Request = {
        holder,
        limits,
        admit: () => {
          clear();
          this.#parts.take(holder);
          resolve();
        },
        refuse: (reason) => {
          clear();
          reject(reason as Error);
        },
      };
      signal.addEventListener("abort", onAbort);
      this.#queue.add(waiter);
    });
  }

  /** Releases a place. The next keys in round-robin order get the free places. */
  release(holder: Holder): void {
    this.#parts.giveBack(holder);
    if (this.#queue.length === 0) return;
    const mayTake = (waiting: Request): boolean => this.#mayTake(waiting.holder, waiting.limits);
    for (let next = this.#queue.next(mayTake); next !== undefined; next = this.#queue.next(mayTake))
      next.admit();
  }

  #mayTake(holder: Holder, { places, mayHaveAll = false, share }: PlaceLimits): boolean {
    if (
      this.#parts.mayTake(
        holder,
        share === undefined ? { capacity: places } : { capacity: places, share },
      )
    )
      return true;
    if (!mayHaveAll || !this.#isAlone(holder)) return false;
    const kept = places === Infinity ? 0 : Math.floor(places / KEPT_OF);
    return this.#parts.mayTake(holder, { capacity: places - kept, share: 1 });
  }

  #isAlone({ key }: Holder): boolean {
    if (this.#lastKey !== undefined && this.#lastKey !== key) return false;
    return this.#now() - this.#lastChangeMs > ALONE_MS;
  }

  #see({ key }: Holder): void {
    if (key === this.#lastKey) return;
    if (this.#lastKey !== undefined) this.#lastChangeMs = this.#now();
    this.#lastKey = key;
  }

  /** Throws when the queue is full and no other key has more requests in it. */
  #makeRoom(holder: Holder, limits: PlaceLimits): void {
    const { queue, what } = limits;
    const { length } = this.#queue;
    if (length < queue) return;
    const newest = queue > 0 ? this.#queue.displacedBy(holder) : undefined;
    if (newest === undefined)
      throw this.#refusal(holder, limits, `${what} has no place free, and ${length} requests wait`);
    this.#queue.remove(newest);
    newest.refuse(
      this.#refusal(
        newest.holder,
        limits,
        `${what} has ${queue} waiting requests, and another key needs a place`,
      ),
    );
  }

  #tooLong(holder: Holder, limits: PlaceLimits): GatewayError {
    return this.#refusal(
      holder,
      limits,
      `${limits.what} had no free place within ${limits.waitMs} ms`,
    );
  }

  /** The message names the key's own share of the load. */
  #refusal(holder: Holder, { places, waitMs }: PlaceLimits, why: string): GatewayError {
    const own = this.#parts.heldBy(holder);
    const waiting = this.#queue.lengthOf(holder);
    const message = `${why}. This key has ${own} of ${places} places and ${waiting} waiting requests; send fewer concurrent requests.`;
    return new GatewayError("overloaded", message, {
      retryAfterMs: Math.max(MIN_RETRY_AFTER_MS, Math.min(waitMs, 5_000)),
    });
  }
}
