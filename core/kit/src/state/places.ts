/** Places: a bounded number of concurrent users with a bounded queue, both with a part for each key. */

import { GatewayError } from "@sluice/contract";
import { type Holder, Parts } from "./parts.ts";

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
  /** Whether a holder may use every place after a minute without another holder. Default false: it has a half. */
  readonly mayHaveAll?: boolean;
}

interface Waiter {
  readonly holder: Holder;
  readonly limits: PlaceLimits;
  readonly admit: () => void;
  readonly refuse: (error: unknown) => void;
}

/** After this time without another holder, a holder counts as the only one. */
const ALONE_MS = 60_000;
const MIN_RETRY_AFTER_MS = 1_000;

/**
 * Counts places in use. Waiting keys are served in round-robin order, the requests of one key in
 * order of arrival. When the queue is full, the key with the most waiting requests loses its newest
 * one to a key with fewer.
 */
export class Places {
  readonly #parts = new Parts();
  /** The waiting requests of each key. The keys are in the order in which they are served. */
  readonly #waiters = new Map<string, Waiter[]>();
  readonly #now: () => number;
  #queued = 0;
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
    return this.#queued;
  }

  /** Whether a holder gets a place at once. */
  hasRoom(holder: Holder, limits: PlaceLimits): boolean {
    return !this.#waiters.has(holder.key) && this.#mayTake(holder, limits);
  }

  /** Whether a request of a holder may wait. */
  hasQueue(holder: Holder, { queue }: PlaceLimits): boolean {
    return this.#queued < queue || (queue > 0 && this.#largest(holder) !== undefined);
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
  wait(holder: Holder, limits: PlaceLimits, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      this.#see(holder);
      this.#makeRoom(holder, limits);
      const leave = (reason: unknown): void => {
        this.#remove(waiter);
        waiter.refuse(reason);
      };
      const onAbort = (): void => leave(signal.reason);
      const timer = setTimeout(() => leave(this.#tooLong(holder, limits)), limits.waitMs);
      const clear = (): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", onAbort);
      };
      const waiter: Waiter = {
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
      const own = this.#waiters.get(holder.key);
      if (own === undefined) this.#waiters.set(holder.key, [waiter]);
      else own.push(waiter);
      this.#queued += 1;
    });
  }

  /** Releases a place. The next keys in round-robin order get the free places. */
  release(holder: Holder): void {
    this.#parts.giveBack(holder);
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      this.#remove(next);
      // The key moves to the end of the queue of keys.
      const rest = this.#waiters.get(next.holder.key);
      if (rest !== undefined) {
        this.#waiters.delete(next.holder.key);
        this.#waiters.set(next.holder.key, rest);
      }
      next.admit();
    }
  }

  #next(): Waiter | undefined {
    for (const [first] of this.#waiters.values()) {
      if (first !== undefined && this.#mayTake(first.holder, first.limits)) return first;
    }
    return undefined;
  }

  #mayTake(holder: Holder, { places, mayHaveAll = false, share }: PlaceLimits): boolean {
    if (this.#parts.mayTake(holder, share === undefined ? { capacity: places } : { capacity: places, share })) return true;
    return mayHaveAll && this.#isAlone(holder) && this.#parts.mayTake(holder, { capacity: places, share: 1 });
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
    if (this.#queued < queue) return;
    const largest = queue > 0 ? this.#largest(holder) : undefined;
    const newest = largest?.at(-1);
    if (newest === undefined) throw this.#refusal(holder, limits, `${what} has no place free, and ${this.#queued} requests wait`);
    this.#remove(newest);
    newest.refuse(this.#refusal(newest.holder, limits, `${what} has ${queue} waiting requests, and another key needs a place`));
  }

  /** The waiting requests of the key with the most of them, if they are more than the holder will have. */
  #largest(holder: Holder): readonly Waiter[] | undefined {
    let most: readonly Waiter[] | undefined;
    for (const waiters of this.#waiters.values()) if (most === undefined || waiters.length > most.length) most = waiters;
    const own = this.#waiters.get(holder.key)?.length ?? 0;
    return most !== undefined && most.length > own + 1 ? most : undefined;
  }

  #remove(waiter: Waiter): void {
    const { key } = waiter.holder;
    const own = this.#waiters.get(key) ?? [];
    const at = own.indexOf(waiter);
    if (at < 0) return;
    own.splice(at, 1);
    this.#queued -= 1;
    if (own.length === 0) this.#waiters.delete(key);
  }

  #tooLong(holder: Holder, limits: PlaceLimits): GatewayError {
    return this.#refusal(holder, limits, `${limits.what} had no free place within ${limits.waitMs} ms`);
  }

  /** The message names the key's own share of the load. */
  #refusal(holder: Holder, { places, waitMs }: PlaceLimits, why: string): GatewayError {
    const own = this.#parts.heldBy(holder);
    const waiting = this.#waiters.get(holder.key)?.length ?? 0;
    const message = `${why}. This key has ${own} of ${places} places and ${waiting} waiting requests; send fewer concurrent requests.`;
    return new GatewayError("overloaded", message, { retryAfterMs: Math.max(MIN_RETRY_AFTER_MS, Math.min(waitMs, 5_000)) });
  }
}
