/** Bounded waiting. */

/**
 * Waits for a promise until a signal aborts. Rejects with the signal's reason; the promise's later
 * result is ignored.
 */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(signal.reason);
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([aborted.promise, promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** A signal that aborts with another one, or after a time. Its creator calls `end`. */
export class TimeLimit {
  readonly signal: AbortSignal;
  readonly #outer: AbortSignal;
  readonly #timer: NodeJS.Timeout;
  readonly #follow: () => void;

  /** `late` makes the abort reason after `ms` milliseconds. */
  constructor(outer: AbortSignal, ms: number, late: () => Error) {
    const controller = new AbortController();
    this.signal = controller.signal;
    this.#outer = outer;
    this.#timer = setTimeout(() => controller.abort(late()), ms);
    this.#follow = () => controller.abort(outer.reason);
    if (outer.aborted) this.#follow();
    else outer.addEventListener("abort", this.#follow, { once: true });
  }

  /** Stops the timer and the listener. Safe to call twice. */
  end(): void {
    clearTimeout(this.#timer);
    this.#outer.removeEventListener("abort", this.#follow);
  }
}

/**
 * A timer that is later than this was delayed by a blocked event loop or by a process that did not
 * run.
 */
const BLOCKED_MS = 50;
/** How often lost time is added. The wait of a process that is blocked again and again ends too. */
const MAX_EXTENSIONS = 3;

/**
 * Calls `late` when an answer has not come within `ms` milliseconds in which this process could
 * receive it. Time that a blocked event loop loses is added, and an answer that has arrived by then
 * is received first. Returns the function that ends the wait.
 */
export function waitForAnswer(ms: number, late: () => void): () => void {
  let extensions = 0;
  let dueMs = performance.now() + ms;
  let hasEnded = false;
  const expire = (): void => {
    const nowMs = performance.now();
    const lostMs = Math.min(nowMs - dueMs, ms);
    if (lostMs > BLOCKED_MS && extensions < MAX_EXTENSIONS) {
      extensions += 1;
      dueMs = nowMs + lostMs;
      timer = setTimeout(expire, lostMs);
      return;
    }
    // Timers run before the answers of the same turn.
    setImmediate(() => {
      if (!hasEnded) late();
    });
  };
  let timer = setTimeout(expire, ms);
  return () => {
    hasEnded = true;
    clearTimeout(timer);
  };
}

/**
 * The result of `work`, or after `ms` milliseconds what `late` returns in its place. An error that
 * `late` throws rejects the promise; the later result is ignored.
 */
export async function within<T, Late>(
  ms: number,
  work: T | PromiseLike<T>,
  late: () => Late,
): Promise<T | Late> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  try {
    return await Promise.race([work, promise.then(late)]);
  } finally {
    clearTimeout(timer);
  }
}
