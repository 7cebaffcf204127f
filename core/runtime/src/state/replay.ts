/** Settlements that a shared-state server missed: kept in order, sent when it answers again. */

import type { Reservation, StateDriver } from "@sluice/contract";
import type { HeldReservation, LocalDecisions } from "./decisions.ts";
import type { StoredRows } from "./stored-rows.ts";

/** Settlements, and reservations granted meanwhile, that the server has yet to hear of. */
export interface Replay {
  /** Keeps a settlement. Beyond the bound the oldest are lost; their cost is in the ledger. */
  keep(reservation: Reservation): void;
  /**
   * Notes a reservation granted here while `catchUp` runs; those from before it finds by itself.
   */
  owe(reservation: Reservation, leaseMs: number): void;
  /**
   * Sends what is kept, then what is held here, until little is left. Rejects when the server
   * fails; what was not sent is kept.
   */
  catchUp(): Promise<void>;
  /**
   * Sends all that is left. The sends have begun when this returns, so they precede every later
   * call.
   */
  flush(): Promise<void>;
  /** The settlements that were lost since the last call of this function. */
  takeDropped(): number;
}

const MAX_KEPT = 20_000;
/** Reservations that are sent together. */
const BATCH = 64;
/** Under a load that brings more than is sent meanwhile, catching up ends all the same. */
const MAX_ROUNDS = 1_000;

interface Owed {
  readonly reservation: Reservation;
  readonly leaseMs: number;
}

/** A settlement, and when it was kept: its row was recorded before. */
interface Kept {
  readonly reservation: Reservation;
  readonly atMs: number;
}

/** What a replay is made with. */
export interface ReplayOptions {
  readonly driver: StateDriver;
  /** The decisions of this process: they know what is held. */
  readonly local: LocalDecisions;
  readonly rows: StoredRows;
  nowMs(): number;
}

/** Settlements for a driver. */
export function createReplay({ driver, local, rows, nowMs }: ReplayOptions): Replay {
  let kept: Kept[] = [];
  let owed: Owed[] = [];
  let isCatchingUp = false;
  let dropped = 0;

  const sendSome = async (count: number): Promise<void> => {
    const settlements = kept.splice(0, count);
    const grants = owed.splice(0, count);
    try {
      await Promise.all([
        // A reservation precedes its settlement: a settled one cannot be held again.
        ...grants.map(({ reservation, leaseMs }) => driver.renew([reservation], leaseMs)),
        ...settlements.map(({ reservation, atMs }) =>
          driver.settle(reservation, rows.storedMs(atMs)),
        ),
      ]);
    } catch (error) {
      // A settlement that did arrive does nothing the second time.
      kept = [...settlements, ...kept];
      throw error;
    }
  };

  return {
    keep(reservation) {
      rows.note();
      kept.push({ reservation, atMs: nowMs() });
      if (kept.length <= MAX_KEPT) return;
      // Dropped in slices: each single drop would move all others.
      dropped += BATCH;
      kept = kept.slice(BATCH);
    },
    owe(reservation, leaseMs) {
      if (isCatchingUp) owed.push({ reservation, leaseMs });
    },
    async catchUp() {
      owed = [];
      isCatchingUp = true;
      const held = local.held();
      for (let rounds = 0; kept.length > 0 && rounds < MAX_ROUNDS; rounds += 1)
        await sendSome(BATCH);
      for (let at = 0; at < held.length; at += BATCH)
        await driver.renew(held.slice(at, at + BATCH), longestLeaseMs(held));
      for (let rounds = 0; kept.length + owed.length > BATCH && rounds < MAX_ROUNDS; rounds += 1)
        await sendSome(BATCH);
    },
    async flush() {
      isCatchingUp = false;
      await sendSome(Infinity);
      rows.clear();
    },
    takeDropped() {
      const count = dropped;
      dropped = 0;
      return count;
    },
  };
}

/** The longest lease that still runs, in whole milliseconds; 0 without any. */
export function longestLeaseMs(held: readonly HeldReservation[]): number {
  return Math.ceil(held.reduce((longest, { leaseLeftMs }) => Math.max(longest, leaseLeftMs), 0));
}
