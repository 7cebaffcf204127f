/**
 * The queue of spend reports: a bounded number runs at the same time, one for each key. The others
 * wait.
 */

import { holderOf, type PlaceLimits, Places } from "@sluice/kit/internals";
import type { Exchange, Host, SharedValue } from "@sluice/contract";

/**
 * Maximum of parallel reports. One thread reads them, so more would be slower. A key, and all keys
 * of a team, may have one.
 */
const REPORTS: PlaceLimits = {
  places: 4,
  share: 0.25,
  queue: 32,
  waitMs: 5_000,
  what: "The queue of spend reports",
};

class Turns implements SharedValue {
  readonly places = new Places();
  /** The queue holds no resource. */
  close?(): void;
}

/**
 * Runs work when the key's slot is free. Rejects with `overloaded` when too many reports wait, or
 * this one waits too long.
 */
export function createTurns(
  host: Host,
): <T>(exchange: Exchange, work: () => Promise<T>) => Promise<T> {
  const { places } = host.shared("spend-reports", () => new Turns());
  return async (exchange, work) => {
    const holder = holderOf(exchange.identity);
    if (places.hasRoom(holder, REPORTS)) places.take(holder);
    else await places.wait(holder, REPORTS, exchange.signal);
    try {
      return await work();
    } finally {
      places.release(holder);
    }
  };
}
