/** Room: how many requests are under way in this process, and that no key has all of it. */

import { type Exchange, GatewayError, type Host, type Identity, type SharedValue } from "@sluice/spec";
import type { LimitsConfig } from "./limits-config.ts";

interface Count {
  inFlight: number;
}

/** Shared by every pipeline and generation: the process is one. Entries of keys stay, as a map that is rewritten all the time does not shrink. */
class Rooms implements SharedValue {
  readonly all: Count = { inFlight: 0 };
  readonly #byKey = new Map<string, Count>();

  of(keyId: string): Count {
    let count = this.#byKey.get(keyId);
    if (count === undefined) {
      if (this.#byKey.size >= MAX_KEYS) this.#forgetIdle();
      this.#byKey.set(keyId, (count = { inFlight: 0 }));
    }
    return count;
  }

  close(): void {
    this.#byKey.clear();
  }

  #forgetIdle(): void {
    for (const [keyId, { inFlight }] of this.#byKey) if (inFlight === 0) this.#byKey.delete(keyId);
  }
}

const MAX_KEYS = 50_000;
const RETRY_AFTER_MS = 1_000;

/** Admits requests while there is room. */
export class Room {
  readonly #rooms: Rooms;
  readonly #max: number;
  readonly #maxOfKey: number;
  readonly #known = new WeakMap<Identity, Count>();

  constructor({ max_in_flight: max, in_flight_share: share }: LimitsConfig, host: Host) {
    this.#rooms = host.shared("limits-room", () => new Rooms());
    this.#max = max;
    this.#maxOfKey = Math.max(1, Math.floor((max * Number.parseInt(share, 10)) / 100));
  }

  /** Takes a place until the exchange is over. Throws `overloaded` when there is none; the master key always gets one. */
  enter(exchange: Exchange, identity: Identity): void {
    const { all } = this.#rooms;
    let own = this.#known.get(identity);
    if (own === undefined) this.#known.set(identity, (own = this.#rooms.of(identity.keyId)));
    if (identity.kind !== "master") {
      if (all.inFlight >= this.#max) throw full("The gateway has as many requests under way as it may.");
      if (own.inFlight >= this.#maxOfKey) throw full("This key has as many requests under way as one key may.");
    }
    const count = own;
    all.inFlight += 1;
    count.inFlight += 1;
    exchange.onSettle(() => {
      all.inFlight -= 1;
      count.inFlight -= 1;
    });
  }
}

function full(message: string): GatewayError {
  return new GatewayError("overloaded", message, { retryAfterMs: RETRY_AFTER_MS });
}
