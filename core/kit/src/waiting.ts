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
