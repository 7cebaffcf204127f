/** The fallback of shared state: the decisions of this process while the server is away. */

import type {
  Claim,
  ClaimState,
  Clock,
  Reservation,
  SeedOptions,
  StateDriver,
  TakeResult,
} from "@sluice/contract";
import { createDecisions, type LocalDecisions } from "./decisions.ts";
import { createRecords, type LocalRecords } from "./records.ts";
import { createReplay, longestLeaseMs, type Replay } from "./replay.ts";
import { createShares, type Shares } from "./shares.ts";
import { StoredRows } from "./stored-rows.ts";

/** A budget is read from the ledger within this time, where the ledger answers. */
const UNREAD_MS = 1_000;

/** What a fallback is made with. */
export interface FallbackOptions {
  readonly driver: StateDriver;
  /** How many gateways share the state. */
  readonly instances: number;
  readonly clock: Clock;
  /**
   * How long the oldest row that the ledger lacks has been waiting, in milliseconds; 0 when it has
   * all. Absent: unknown.
   */
  readonly ledgerLagMs?: () => number;
}

/**
 * Decides at this gateway's share of the limits, and keeps what the server must learn when it is
 * back.
 */
export class Fallback {
  readonly records: LocalRecords;
  readonly #driver: StateDriver;
  readonly #decisions: LocalDecisions;
  readonly #shares: Shares;
  readonly #replay: Replay;
  readonly #nowMs: () => number;
  readonly #instances: number;
  /** The time of the first request for a budget that was not read from the ledger since. */
  #unreadSinceMs: number | undefined;

  constructor({ driver, instances, clock, ledgerLagMs = () => Infinity }: FallbackOptions) {
    const nowMs = (): number => clock.monotonic();
    this.#nowMs = nowMs;
    this.#instances = instances;
    const local = createDecisions({ clock });
    this.#driver = driver;
    this.#decisions = local;
    this.#shares = createShares({ instances, alone: (key) => local.alone(key) });
    const rows = new StoredRows({ lagMs: ledgerLagMs, nowMs });
    this.#replay = createReplay({ driver, local, rows, nowMs });
    this.records = createRecords({ clock });
  }

  /**
   * Begins to decide. From now on the ledger reports the spend. Reservations are held here already.
   */
  begin(): void {
    this.#decisions.beginAlone();
    this.#shares.clear();
    this.#unreadSinceMs = undefined;
  }

  /** The time since which budgets are refused that others may serve: the ledger does not answer. */
  get unreadSinceMs(): number | undefined {
    if (this.#instances === 1) return undefined;
    const sinceMs = this.#unreadSinceMs;
    return sinceMs !== undefined && this.#nowMs() - sinceMs > UNREAD_MS ? sinceMs : undefined;
  }

  take(reservation: Reservation, leaseMs: number): TakeResult {
    const result = this.#decisions.take(this.#shares.scaled(reservation), leaseMs);
    if (result.outcome === "granted") this.#replay.owe(reservation, leaseMs);
    else if (result.outcome === "unseeded") this.#unreadSinceMs ??= this.#nowMs();
    return this.#shares.unscaled(reservation, result);
  }

  /**
   * Decides a reservation whose fate at the server is not known. A refusal is settled there later.
   */
  takeUncertain(reservation: Reservation, leaseMs: number): TakeResult {
    const result = this.take(reservation, leaseMs);
    if (result.outcome === "refused") {
      this.#replay.keep({ id: reservation.id, claims: reservation.claims.map(withoutAmount) });
    }
    return result;
  }

  /** Holds a reservation that the server granted, with how its limits stand there. */
  adopt(reservation: Reservation, leaseMs: number, states: readonly ClaimState[]): void {
    this.#decisions.adopt(reservation, leaseMs, states);
  }

  /** Ends a reservation here. The server learns of it elsewhere: by its driver, or by `keep`. */
  settle(reservation: Reservation): void {
    this.#decisions.settle(reservation);
  }

  /** Keeps a settlement for the server. */
  keep(reservation: Reservation): void {
    this.#replay.keep(reservation);
  }

  renew(reservations: readonly Reservation[], leaseMs: number): void {
    this.#decisions.renew(reservations, leaseMs);
  }

  seed(key: string, spentNanoUsd: number): void {
    this.#unreadSinceMs = undefined;
    this.#shares.seeded(key, spentNanoUsd);
    this.#decisions.seed(key, spentNanoUsd);
  }

  /**
   * Seeds a budget at the server. A budget that the server lost gets back the reservations that are
   * held here.
   */
  async seedServer(key: string, spentNanoUsd: number, options?: SeedOptions): Promise<void> {
    const held = this.#decisions.held(key);
    const restored = held.length > 0 ? this.#driver.renew(held, longestLeaseMs(held)) : undefined;
    await Promise.all([restored, this.#driver.seed(key, spentNanoUsd, options)]);
  }

  read(keys: readonly string[]): ReturnType<LocalDecisions["read"]> {
    return this.#decisions.read(keys);
  }

  reset(key: string): void {
    this.#decisions.reset(key);
  }

  /** Sends what the server missed until little is left. Rejects when the server fails. */
  catchUp(): Promise<void> {
    return this.#replay.catchUp();
  }

  /** Sends the rest, before any later call of the driver. Rejects when the server fails. */
  flush(): Promise<void> {
    return this.#replay.flush();
  }

  /** How many settlements were dropped since the last call. */
  takeDropped(): number {
    return this.#replay.takeDropped();
  }
}

function withoutAmount(claim: Claim): Claim {
  if (claim.kind === "window") return { ...claim, amount: 0 };
  return claim.kind === "budget" ? { ...claim, amountNanoUsd: 0 } : claim;
}
