/** Shared state behind a socket, made so that no request fails by it: while it is away this process decides by itself. */

import type { Claim, Clock, Log, Reservation, Soon, StateDriver, TakeResult } from "@sluice/spec";
import { createDecisions } from "./decisions.ts";
import { createRecords } from "./records.ts";
import { createReplay, longestLeaseMs } from "./replay.ts";
import { createShares } from "./shares.ts";

/** What shared state is made resilient with. */
export interface ResilientOptions {
  readonly driver: StateDriver;
  /** How many gateways share it: alone each admits so large a part of a limit. */
  readonly instances: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** After so many failures in a row the server is tried rarely. */
const FAILURES_TO_OPEN = 5;
/** Between two tries, before and after that; up to a quarter more or less by chance. */
const SHORT_PAUSE_MS = 250;
const LONG_PAUSE_MS = 10_000;

/**
 * Shared state that does not fail. What the driver grants is held here too, in shadow. The first call that fails makes this process
 * decide alone, at its share of the limits, until a probe succeeds: nobody waits for a server that is dead or slow, and no two
 * places decide at the same time. Settlements are kept meanwhile and sent when it is back, before anything else.
 */
export function createResilientState(options: ResilientOptions): StateDriver {
  const { driver, instances, clock, log } = options;
  const local = createDecisions({ clock });
  const localRecords = createRecords({ clock });
  const shares = createShares(instances);
  const replay = createReplay(driver, local);
  let isAlone = false;
  let isStopped = false;
  let failures = 0;
  let aloneSinceMs = 0;
  let pause: NodeJS.Timeout | undefined;

  const goAlone = (error: unknown): void => {
    failures += 1;
    if (isAlone || isStopped) return;
    isAlone = true;
    aloneSinceMs = clock.monotonic();
    // What was spent is the ledger's to say from here on; what is reserved was held in shadow.
    local.forgetSpent();
    shares.clear();
    log.warn("shared state is away: this gateway decides alone", { reason: reasonOf(error), share: `1/${instances}` });
    probeLater();
  };
  const probeLater = (): void => {
    const pauseMs = failures < FAILURES_TO_OPEN ? SHORT_PAUSE_MS : LONG_PAUSE_MS;
    pause = setTimeout(() => void probe(), pauseMs * (0.75 + Math.random() / 2));
    pause.unref();
  };
  const probe = async (): Promise<void> => {
    try {
      // A write: a replica answers reads.
      await driver.cache.set("probe", Uint8Array.of(1), 1_000);
      await replay.catchUp();
    } catch {
      failures += 1;
      if (!isStopped) probeLater();
      return;
    }
    if (isStopped) return;
    isAlone = false;
    failures = 0;
    const dropped = replay.takeDropped();
    log.info("shared state is back", { awayMs: Math.round(clock.monotonic() - aloneSinceMs), settlementsLost: dropped });
    // Sent before any later decision, on the same connection: what came in since `catchUp`.
    replay.flush().catch(goAlone);
  };

  /** Asks the driver, or `alone` when it is away or fails now. */
  const ask = <T>(remote: () => Soon<T>, alone: () => T): Soon<T> => {
    if (isAlone) return alone();
    return askDriver(remote, alone);
  };
  const askDriver = async <T>(remote: () => Soon<T>, alone: () => T): Promise<T> => {
    try {
      const answer = await remote();
      if (!isAlone) failures = 0;
      return answer;
    } catch (error) {
      goAlone(error);
      return alone();
    }
  };
  const takeAlone = (reservation: Reservation, leaseMs: number): TakeResult => {
    const result = local.take(shares.scaled(reservation), leaseMs);
    if (result.outcome === "granted") replay.owe(reservation, leaseMs);
    return shares.unscaled(reservation, result);
  };

  return {
    get isAway() {
      return isAlone;
    },
    async start(signal) {
      try {
        await driver.start(signal);
      } catch (error) {
        goAlone(error);
      }
    },
    async stop() {
      isStopped = true;
      clearTimeout(pause);
      await driver.stop();
    },
    take(reservation, leaseMs) {
      if (isAlone) return takeAlone(reservation, leaseMs);
      return takeShared(reservation, leaseMs);
    },
    settle(reservation) {
      local.settle(reservation);
      if (isAlone) return replay.keep(reservation);
      return askDriver(
        () => driver.settle(reservation),
        () => replay.keep(reservation),
      );
    },
    renew(reservations, leaseMs) {
      local.renew(reservations, leaseMs);
      return ask(
        () => driver.renew(reservations, leaseMs),
        () => {},
      );
    },
    seed(key, spentNanoUsd) {
      return ask(
        async () => {
          // A budget that was lost lost its reservations too: ours are put back before anybody can take.
          const held = local.held(key);
          const restored = held.length > 0 ? driver.renew(held, longestLeaseMs(held)) : undefined;
          await Promise.all([restored, driver.seed(key, spentNanoUsd)]);
        },
        () => {
          shares.seeded(key, spentNanoUsd);
          local.seed(key, spentNanoUsd);
        },
      );
    },
    read: (keys) =>
      ask(
        () => driver.read(keys),
        () => local.read(keys),
      ),
    reset(key) {
      local.reset(key);
      return ask(
        () => driver.reset(key),
        () => {},
      );
    },
    cache: {
      get: (key) =>
        ask(
          () => driver.cache.get(key),
          () => undefined,
        ),
      set: (key, bytes, ttlMs, holder) =>
        ask(
          () => driver.cache.set(key, bytes, ttlMs, holder),
          () => false,
        ),
      delete: (key) =>
        ask(
          () => driver.cache.delete(key),
          () => {},
        ),
      purge: (prefix) =>
        ask(
          () => driver.cache.purge(prefix),
          () => 0,
        ),
    },
    records: {
      begin: (key, bodyDigest, owner, leaseMs) =>
        ask(
          () => driver.records.begin(key, bodyDigest, owner, leaseMs),
          () => localRecords.begin(key, bodyDigest, owner, leaseMs),
        ),
      complete(key, owner, bytes, ttlMs) {
        // What was begun alone is known here alone.
        if (localRecords.complete(key, owner, bytes, ttlMs)) return true;
        return ask(
          () => driver.records.complete(key, owner, bytes, ttlMs),
          () => false,
        );
      },
      abandon(key, owner) {
        localRecords.abandon(key, owner);
        return ask(
          () => driver.records.abandon(key, owner),
          () => {},
        );
      },
    },
  };

  async function takeShared(reservation: Reservation, leaseMs: number): Promise<TakeResult> {
    let result: TakeResult;
    try {
      result = await driver.take(reservation, leaseMs);
    } catch (error) {
      goAlone(error);
      const alone = takeAlone(reservation, leaseMs);
      // Nobody knows whether the driver granted it: what is not held here is given back there.
      if (alone.outcome === "refused") replay.keep({ id: reservation.id, claims: reservation.claims.map(withoutAmount) });
      return alone;
    }
    if (!isAlone) failures = 0;
    if (result.outcome === "granted") local.adopt(reservation, leaseMs);
    return result;
  }
}

function withoutAmount(claim: Claim): Claim {
  if (claim.kind === "window") return { ...claim, amount: 0 };
  return claim.kind === "budget" ? { ...claim, amountNanoUsd: 0 } : claim;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
