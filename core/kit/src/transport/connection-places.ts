/** Places for the connections of a provider: each key has a part of them, and waits before its call begins. */

import { Places, type PlaceLimits } from "../state/places.ts";
import type { Holder } from "../state/parts.ts";

/** A connection that a call may use. It is given back once, however often `release` is called. */
export interface ConnectionPlace {
  release(): void;
}

/** Calls that wait for each connection at most. */
const QUEUE_PER_CONNECTION = 4;
/** How long a call waits for a connection, where the provider's options say nothing. */
const DEFAULT_WAIT_MS = 10_000;

/** The places of one provider's connections. */
export class ConnectionPlaces {
  readonly #places = new Places();
  readonly #connections: number;

  constructor(connections: number) {
    this.#connections = connections;
  }

  /**
   * Takes a place, at once where the key may have one. Rejects with `overloaded` when the wait is too long or too many wait, and
   * with the signal's reason. `name` is the provider's.
   */
  enter(holder: Holder, name: string, signal: AbortSignal, waitMs = DEFAULT_WAIT_MS): ConnectionPlace | Promise<ConnectionPlace> {
    const places = this.#places;
    const limits: PlaceLimits = {
      places: this.#connections,
      queue: QUEUE_PER_CONNECTION * this.#connections,
      waitMs,
      what: `The provider ${name}`,
    };
    if (!places.hasRoom(holder, limits)) return places.wait(holder, limits, signal).then(() => placeOf(places, holder));
    places.take(holder);
    return placeOf(places, holder);
  }
}

function placeOf(places: Places, holder: Holder): ConnectionPlace {
  let isHeld = true;
  return {
    release() {
      if (isHeld) places.release(holder);
      isHeld = false;
    },
  };
}
