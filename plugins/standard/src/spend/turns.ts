/** Turns of spend reports: so many are made at the same time, one for each key, and the next ones wait. */

import { holderOf, type PlaceLimits, Places } from "@sluice/kit/internals";
import type { Exchange, Host, SharedValue } from "@sluice/contract";

/** A report is read by one thread: more at the same time would only be slower. Each key, and all keys of a team, has one. */
const REPORTS: PlaceLimits = { places: 4, share: 0.25, queue: 32, waitMs: 5_000, what: "The queue of spend reports" };

class Turns implements SharedValue {
  readonly places = new Places();
  /** Nothing is open. */
  close?(): void;
}

/** Runs work when it is the key's turn. Rejects with `overloaded` when too many reports wait, or this one for too long. */
export function createTurns(host: Host): <T>(exchange: Exchange, work: () => Promise<T>) => Promise<T> {
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
