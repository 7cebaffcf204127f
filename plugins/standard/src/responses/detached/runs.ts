/**
 * The responses in the background that this process makes, and what all gateways know of them: how
 * many a key has, whether one is being made, whether its client has ended it.
 */

import { randomUUID } from "node:crypto";
import {
  GatewayError,
  type ConcurrentClaim,
  type Identity,
  type Gauge,
  type Host,
  type Log,
  type MetricDescription,
  type Metrics,
  type Reservation,
  type SharedState,
  type SharedValue,
} from "@sluice/contract";
import { holderOf, Parts } from "@sluice/kit/internals";

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

/** How many run. The name on the page begins with `sluice_responses_`. */
export const RUNNING: MetricDescription = {
  name: "background_running",
  help: "Responses in the background that this process makes at present.",
};

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
  #gauge: Gauge | undefined;
  readonly #runs = new Map<string, R>();
  /** Runs, and those that are about to begin, by their keys. */
  readonly #parts = new Parts();
  #timer: NodeJS.Timeout | undefined;
  #looks = 0;
  #isLooking = false;

  constructor({ state, log }: Pick<Host, "state" | "log">) {
    this.#state = state;
    this.#log = log;
  }

  /** Reports how many run, under the name of the step whose metrics these are. */
  reportTo(metrics: Metrics): void {
    this.#gauge = metrics.gauge(RUNNING).with();
    this.#gauge.set(this.#runs.size);
  }

  find(keyId: string, responseId: string): R | undefined {
    return this.#runs.get(nameOf(keyId, responseId));
  }

  /**
   * Takes a place for a response. Rejects with `rate_limited` where its key has no more, with
   * `overloaded` where this process has none for it. `release` must follow.
   */
  async take(identity: Identity, responseId: string, limits: RunLimits): Promise<Reservation> {
    const { keyId } = identity;
    const { maxPerKey } = limits;
    const claims = [claimOf(`background:${keyId}`, maxPerKey), runningClaim(keyId, responseId)];
    const reservation = { id: `background:${randomUUID()}`, claims };
    const { outcome } = await this.#state.take(reservation, LEASE_MS);
    if (outcome !== "granted")
      throw new GatewayError(
        "rate_limited",
        `Key limit reached: ${maxPerKey} responses in the background. Retry when one has ended.`,
        { retryAfterMs: LOOK_MS },
      );
    try {
      this.#takePart(identity, limits);
    } catch (error) {
      await this.#settle(reservation);
      throw error;
    }
    return reservation;
  }

  #takePart(identity: Identity, { maxRuns: capacity }: RunLimits): void {
    const parts = this.#parts;
    const holder = holderOf(identity);
    const isFull = parts.held >= capacity;
    if (isFull || (identity.kind !== "master" && !parts.mayTake(holder, { capacity })))
      throw new GatewayError(
        "overloaded",
        isFull
          ? `The gateway makes as many responses in the background as it may (max_background: ${capacity}). Retry later.`
          : `This key, or its team, uses its part of the responses in the background that the gateway may make: ${parts.heldBy(holder)} are the key's, ${parts.held} of ${capacity} (max_background) are in use. Retry when one has ended.`,
        { retryAfterMs: LOOK_MS },
      );
    parts.take(holder);
  }

  /** Gives a place back. Never rejects. */
  async release(identity: Identity, reservation: Reservation): Promise<void> {
    this.#parts.giveBack(holderOf(identity));
    await this.#settle(reservation);
  }

  async #settle(reservation: Reservation): Promise<void> {
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
    this.#gauge?.set(this.#runs.size);
    this.#timer ??= setInterval(() => void this.#look(), LOOK_MS).unref();
  }

  remove({ keyId, responseId }: R): void {
    this.#runs.delete(nameOf(keyId, responseId));
    this.#gauge?.set(this.#runs.size);
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
