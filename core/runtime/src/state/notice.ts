/**
 * Notice: the time in which the other gateways miss this one and leave its share of budgets to it.
 * Until then they may spend all of a budget, so this gateway decides about none. Of one that has
 * never reported they know nothing: it refuses.
 */

import { GatewayError, type Reservation } from "@sluice/contract";

/** A gateway is missed 1.5 s after its last report; the others look twice a second. */
const NOTICE_MS = 3_000;
const RETRY_AFTER_MS = 1_000;

/** The notice of one gateway. */
export class Notice {
  #isKnown = false;
  #isGiven = true;
  #begunMs = 0;
  #ended: PromiseWithResolvers<void> = Promise.withResolvers();
  #timer: NodeJS.Timeout | undefined;

  /** The others know of this gateway. */
  known(): void {
    this.#isKnown = true;
  }

  /** Since when it refuses: the others do not know of this gateway. */
  get refusesSinceMs(): number | undefined {
    return this.#isKnown || this.#isGiven ? undefined : this.#begunMs;
  }

  /** Begins to wait. */
  begin(nowMs: number): void {
    this.end();
    this.#begunMs = nowMs;
    this.#isGiven = false;
    this.#ended = Promise.withResolvers();
    this.#timer = setTimeout(() => this.end(), NOTICE_MS);
    this.#timer.unref();
  }

  /** Ends the wait: the others have noticed, or the server decides again. */
  end(): void {
    clearTimeout(this.#timer);
    this.#isGiven = this.#isKnown;
    this.#ended.resolve();
  }

  /**
   * The end of the wait for a reservation; `undefined`: it does not wait. Throws `overloaded` where
   * the others do not know of this gateway.
   */
  waitFor({ claims }: Reservation): Promise<void> | undefined {
    if (this.#isGiven) return undefined;
    const isLimited = claims.some(
      (claim) => claim.kind === "budget" && claim.limitNanoUsd < Number.MAX_SAFE_INTEGER,
    );
    if (!isLimited) return undefined;
    if (this.#isKnown) return this.#ended.promise;
    throw new GatewayError(
      "overloaded",
      "The gateway cannot reserve budgets: it has not reached the shared state since its start. Retry after the time in retry-after.",
      { retryAfterMs: RETRY_AFTER_MS },
    );
  }
}
