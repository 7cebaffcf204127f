/**
 * The responses in the background that this process makes, and what all gateways know of them: how
 * many a key has, whether one is being made, whether its client has ended it.
 */

import { randomUUID } from "node:crypto";
import {
  GatewayError,
  type ConcurrentClaim,
  type Log,
  type Reservation,
  type SharedState,
  type SharedValue,
} from "@sluice/contract";

/** A response counts as lost when its process has not renewed this lease. */
const LEASE_MS = 15_000;
/** How long an order to end a response stays. */
const ORDER_MS = 60_000;
/** The interval at which orders of other processes are looked up. */
const LOOK_MS = 1_000;
/** Looks between two renewals. */
const LOOKS_TO_RENEW = 4;
/** Orders that one call looks up. */
const MAX_KEYS = 128;

/** The bounds of responses in the background. */
export interface RunLimits {
  readonly maxPerKey: number;
  /** Of this process. */
  readonly maxRuns: number;
}

/** A response that this process makes. */
export interface Run {
  readonly keyId: string;
  readonly responseId: string;
  readonly reservation: Reservation;
  /** Ends it. */
  cancel(): void;
  /** Resolves when its last entry is stored. */
  readonly ended: Promise<void>;
}

/** One of the process, for all generations. */
export class Runs<R extends Run = Run> implements SharedValue {
  readonly #state: SharedState;
  readonly #log: Log;
  readonly #runs = new Map<string, R>();
  /** Runs, and those that are about to begin. */
  #count = 0;
  #timer: NodeJS.Timeout | undefined;
  #looks = 0;
  #isLooking = false;

  constructor(state: SharedState, log: Log) {
    this.#state = state;
    this.#log = log;
  }

  get count(): number {
    return this.#count;
  }

  find(keyId: string, responseId: string): R | undefined {
    return this.#runs.get(nameOf(keyId, responseId));
  }

  /**
   * Takes a place for a response. Rejects with `rate_limited` where its key has no more, with
   * `overloaded` where this process has none. `release` must follow.
   */
  async take(
    keyId: string,
    responseId: string,
    { maxPerKey, maxRuns }: RunLimits,
  ): Promise<Reservation> {
    if (this.#count >= maxRuns)
      throw new GatewayError(
        "overloaded",
        `The gateway makes as many responses in the background as it may (max_background: ${maxRuns}). Retry later.`,
        { retryAfterMs: LOOK_MS },
      );
    this.#count += 1;
    const claims = [claimOf(`background:${keyId}`, maxPerKey), runningClaim(keyId, responseId)];
    const reservation = { id: `background:${randomUUID()}`, claims };
    try {
      const { outcome } = await this.#state.take(reservation, LEASE_MS);
      if (outcome === "granted") return reservation;
    } catch (cause) {
      this.#count -= 1;
      throw cause;
    }
    this.#count -= 1;
    throw new GatewayError(
      "rate_limited",
      `Key limit reached: ${maxPerKey} responses in the background. Retry when one has ended.`,
      { retryAfterMs: LOOK_MS },
    );
  }

  /** Gives a place back. Never rejects. */
  async release(reservation: Reservation): Promise<void> {
    this.#count -= 1;
    try {
      await this.#state.settle(reservation);
    } catch (error) {
      this.#log.warn("the place of a response in the background could not be given back", {
        error,
      });
    }
  }

  add(run: R): void {
    this.#runs.set(nameOf(run.keyId, run.responseId), run);
    this.#timer ??= setInterval(() => void this.#look(), LOOK_MS).unref();
  }

  remove({ keyId, responseId }: R): void {
    this.#runs.delete(nameOf(keyId, responseId));
    if (this.#runs.size === 0) this.close();
  }

  /** Whether a process makes a response now. */
  async isRunning(keyId: string, responseId: string): Promise<boolean> {
    if (this.find(keyId, responseId) !== undefined) return true;
    return this.#isHeld(runningClaim(keyId, responseId));
  }

  /** Orders the process that makes a response to end it. */
  async order(keyId: string, responseId: string): Promise<void> {
    const run = this.find(keyId, responseId);
    if (run !== undefined) {
      run.cancel();
      return;
    }
    const id = `background:${randomUUID()}`;
    // A second order is refused: the first one stands.
    await this.#state.take({ id, claims: [orderClaim(keyId, responseId)] }, ORDER_MS);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #isHeld({ key }: ConcurrentClaim): Promise<boolean> {
    const [reading] = await this.#state.read([key]);
    return (reading?.inFlight ?? 0) > 0;
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    this.#looks += 1;
    const runs = [...this.#runs.values()];
    try {
      if (this.#looks % LOOKS_TO_RENEW === 0)
        await this.#state.renew(
          runs.map(({ reservation }) => reservation),
          LEASE_MS,
        );
      for (let from = 0; from < runs.length; from += MAX_KEYS)
        // oxlint-disable-next-line no-await-in-loop -- one call at a time.
        await this.#takeOrders(runs.slice(from, from + MAX_KEYS));
    } catch (error) {
      this.#log.warn("the orders for responses in the background could not be read", { error });
    } finally {
      this.#isLooking = false;
    }
  }

  async #takeOrders(runs: readonly R[]): Promise<void> {
    const keys = runs.map(({ keyId, responseId }) => orderClaim(keyId, responseId).key);
    const readings = await this.#state.read(keys);
    for (const [at, run] of runs.entries()) if ((readings[at]?.inFlight ?? 0) > 0) run.cancel();
  }
}

function nameOf(keyId: string, responseId: string): string {
  return `${responseId}:${keyId}`;
}

function claimOf(key: string, limit: number, holder?: string): ConcurrentClaim {
  const claim = { kind: "concurrent", key: `responses:${key}`, limit } as const;
  return holder === undefined ? claim : { ...claim, holder };
}

function runningClaim(keyId: string, responseId: string): ConcurrentClaim {
  return claimOf(`running:${nameOf(keyId, responseId)}`, 1, keyId);
}

function orderClaim(keyId: string, responseId: string): ConcurrentClaim {
  return claimOf(`ended:${nameOf(keyId, responseId)}`, 1, keyId);
}
