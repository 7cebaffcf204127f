/** The slots of one deployment: how many use it, and who waits. */

import { GatewayError } from "@sluice/spec";

/** What may be used and how long one may wait for it. */
export interface SlotLimits {
  readonly maxParallel: number;
  readonly queue: number;
  readonly queueTimeoutMs: number;
}

interface Waiter {
  readonly maxParallel: number;
  readonly admit: () => void;
}

/** Counts the slots in use. Who waits is served in the order of arrival. */
export class Slots {
  readonly #waiters: Waiter[] = [];
  #inFlight = 0;

  get inFlight(): number {
    return this.#inFlight;
  }

  get queued(): number {
    return this.#waiters.length;
  }

  /** Whether a slot is free at once. */
  hasRoom({ maxParallel }: SlotLimits): boolean {
    return this.#inFlight < maxParallel && this.#waiters.length === 0;
  }

  /** Whether there is a place to wait. */
  hasQueue({ queue }: SlotLimits): boolean {
    return this.#waiters.length < queue;
  }

  /** Takes a slot. The caller has seen that there is room. */
  take(): void {
    this.#inFlight += 1;
  }

  /** Waits for a slot and takes it. Rejects with the signal's reason, and with `overloaded` when the wait is too long. */
  wait(limits: SlotLimits, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason as Error);
        return;
      }
      const leave = (reason: unknown): void => {
        const place = this.#waiters.indexOf(waiter);
        if (place >= 0) this.#waiters.splice(place, 1);
        clear();
        reject(reason as Error);
      };
      const onAbort = (): void => leave(signal.reason);
      const timer = setTimeout(() => leave(queueTimeout(limits.queueTimeoutMs)), limits.queueTimeoutMs);
      const clear = (): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", onAbort);
      };
      const waiter: Waiter = {
        maxParallel: limits.maxParallel,
        admit: () => {
          clear();
          this.#inFlight += 1;
          resolve();
        },
      };
      signal.addEventListener("abort", onAbort);
      this.#waiters.push(waiter);
    });
  }

  /** Gives a slot back. The first who waits gets it. */
  release(): void {
    this.#inFlight -= 1;
    for (let next = this.#waiters[0]; next !== undefined && this.#inFlight < next.maxParallel; next = this.#waiters[0]) {
      this.#waiters.shift();
      next.admit();
    }
  }
}

function queueTimeout(waitedMs: number): GatewayError {
  return new GatewayError("overloaded", `No deployment of the model had room within ${waitedMs} ms.`, { retryAfterMs: waitedMs });
}
