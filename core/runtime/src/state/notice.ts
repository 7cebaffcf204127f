/**
 * Notice: the time in which the other gateways miss this one and leave its share of budgets to it.
 * Until then they may spend all of a budget, so this gateway decides about none.
 */

import type { Reservation } from "@sluice/contract";

/** A gateway is missed 1.5 s after its last report; the others look twice a second. */
const NOTICE_MS = 3_000;

/** The notice of one gateway. */
export class Notice {
  #isGiven = true;
  #ended: PromiseWithResolvers<void> = Promise.withResolvers();
  #timer: NodeJS.Timeout | undefined;

  /** Begins to wait. */
  begin(): void {
    this.end();
    this.#isGiven = false;
    this.#ended = Promise.withResolvers();
    this.#timer = setTimeout(() => this.end(), NOTICE_MS);
    this.#timer.unref();
  }

  /** Ends the wait: the others have noticed, or the server decides again. */
  end(): void {
    clearTimeout(this.#timer);
    this.#isGiven = true;
    this.#ended.resolve();
  }

  /** The end of the wait for a reservation; `undefined`: it does not wait. */
  waitFor({ claims }: Reservation): Promise<void> | undefined {
    if (this.#isGiven) return undefined;
    const isLimited = claims.some(
      (claim) => claim.kind === "budget" && claim.limitNanoUsd < Number.MAX_SAFE_INTEGER,
    );
    return isLimited ? this.#ended.promise : undefined;
  }
}
