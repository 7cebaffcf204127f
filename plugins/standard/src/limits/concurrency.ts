/**
 * Concurrency: how many requests this process may have under way, with a part for each key and
 * team.
 */

import {
  type Exchange,
  GatewayError,
  type Host,
  type Identity,
  type SharedValue,
} from "@sluice/contract";
import { holderOf, type PartLimits, Parts } from "@sluice/kit/internals";
import type { LimitsConfig } from "./config.ts";

/** Shared by every pipeline and generation: the process is one. */
class Places implements SharedValue {
  readonly parts = new Parts();
  /** Nothing is open. */
  close?(): void;
}

/** Requests that a key may have under way while places are free, however many keys are busy. */
const MIN_OF_KEY = 16;
const RETRY_AFTER_MS = 1_000;

/** Admits requests up to `max_in_flight`. */
export class ConcurrencyLimiter {
  readonly #parts: Parts;
  readonly #limits: PartLimits;

  constructor({ max_in_flight: capacity, in_flight_share: text }: LimitsConfig, host: Host) {
    this.#parts = host.shared("limits-concurrency", () => new Places()).parts;
    const share = Number.parseInt(text, 10) / 100;
    const minimum = Math.max(1, Math.min(MIN_OF_KEY, Math.floor(capacity * share)));
    this.#limits = { capacity, share, min: minimum };
  }

  /**
   * Takes a place until the exchange is over. Throws `overloaded` when no place is free; the master
   * key always gets one.
   */
  enter(exchange: Exchange, identity: Identity): void {
    const parts = this.#parts;
    const holder = holderOf(identity);
    const { capacity } = this.#limits;
    if (identity.kind !== "master" && !parts.mayTake(holder, this.#limits)) {
      if (parts.held >= capacity)
        throw full("The gateway has as many requests under way as it may (max_in_flight).");
      const subject = identity.teamId === undefined ? "This key" : "This key, or its team,";
      throw full(
        `${subject} uses its part of the requests that the gateway may have under way (in_flight_share): ${parts.heldBy(holder)} are the key's, ${parts.held} of ${capacity} are in use.`,
      );
    }
    parts.take(holder);
    exchange.lifetime.onSettle(() => parts.giveBack(holder));
  }
}

function full(message: string): GatewayError {
  return new GatewayError("overloaded", message, { retryAfterMs: RETRY_AFTER_MS });
}
