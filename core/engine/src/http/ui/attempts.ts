/** Counts failed sign-ins by address. */

import type { Clock } from "@sluice/contract";
import { GatewayError } from "@sluice/contract";

const MAX_FAILURES = 5;
const WINDOW_MS = 60_000;
const MAX_ADDRESSES = 1_000;

/** Refuses an address after five failures, until a minute has passed since the first of them. */
export class SignInAttempts {
  readonly #clock: Pick<Clock, "now">;
  readonly #failures = new Map<string, { count: number; readonly sinceMs: number }>();

  constructor(clock: Pick<Clock, "now">) {
    this.#clock = clock;
  }

  /** Throws `rate_limited` for an address that failed too often. */
  check(address: string | null): void {
    const found = this.#failures.get(address ?? "");
    if (found === undefined || found.count < MAX_FAILURES) return;
    const leftMs = found.sinceMs + WINDOW_MS - this.#clock.now();
    if (leftMs <= 0) {
      this.#failures.delete(address ?? "");
      return;
    }
    throw new GatewayError(
      "rate_limited",
      "Too many failed sign-ins from this address. Wait a minute and try again.",
      { retryAfterMs: leftMs },
    );
  }

  /** Notes a failure. */
  fail(address: string | null): void {
    const nowMs = this.#clock.now();
    const key = address ?? "";
    const found = this.#failures.get(key);
    if (found !== undefined && nowMs < found.sinceMs + WINDOW_MS) {
      found.count++;
      return;
    }
    // The oldest goes: the map stays bounded under a flood of addresses.
    this.#failures.delete(key);
    const [oldest] = this.#failures.keys();
    if (this.#failures.size >= MAX_ADDRESSES && oldest !== undefined) this.#failures.delete(oldest);
    this.#failures.set(key, { count: 1, sinceMs: nowMs });
  }
}
