/** Waiting that ends in time. */

/**
 * Waits for a promise, no longer than a signal lets. Rejects with the signal's reason; what the promise comes to afterwards is
 * passed over.
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

/** A signal that ends with another one, or after a time. Whoever makes it calls `end`. */
export class TimeLimit {
  readonly signal: AbortSignal;
  readonly #outer: AbortSignal;
  readonly #timer: NodeJS.Timeout;
  readonly #follow: () => void;

  /** `late` makes the reason after `ms` milliseconds. */
  constructor(outer: AbortSignal, ms: number, late: () => Error) {
    const controller = new AbortController();
    this.signal = controller.signal;
    this.#outer = outer;
    this.#timer = setTimeout(() => controller.abort(late()), ms);
    this.#follow = () => controller.abort(outer.reason);
    if (outer.aborted) this.#follow();
    else outer.addEventListener("abort", this.#follow, { once: true });
  }

  /** Nothing ends any more. Safe twice. */
  end(): void {
    clearTimeout(this.#timer);
    this.#outer.removeEventListener("abort", this.#follow);
  }
}
