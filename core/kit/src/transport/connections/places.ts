/**
 * Places for the connections of a provider: each key has a part of them. A call waits before it
 * begins.
 */

import { Places, type PlaceLimits } from "../../state/places.ts";
import type { Ending } from "../../state/late-signal.ts";
import type { Holder } from "../../state/parts.ts";

/** A connection that a call may use. Only the first call of `release` has an effect. */
export interface ConnectionPlace {
  release(): void;
}

/** Maximum waiting calls for each connection. */
const QUEUE_PER_CONNECTION = 4;
/** The maximum wait for a connection, without an option of the provider. */
const DEFAULT_WAIT_MS = 10_000;

/** The connection places of one provider, or of one service. */
export class ConnectionPlaces {
  readonly #places = new Places();
  readonly #connections: number;
  readonly #mayHaveAll: boolean;

  /** `mayHaveAll`: a key that was alone for a minute may use every connection. */
  constructor(connections: number, mayHaveAll = false) {
    this.#connections = connections;
    this.#mayHaveAll = mayHaveAll;
  }

  /**
   * Takes a place, synchronously where the key may have one. Rejects with `overloaded` when the
   * wait is too long or the queue is full, and with the signal's reason. `what` is the subject of
   * the message: `The provider openai`.
   */
  enter(
    holder: Holder,
    what: string,
    signal: Ending,
    waitMs = DEFAULT_WAIT_MS,
  ): ConnectionPlace | Promise<ConnectionPlace> {
    const places = this.#places;
    const limits: PlaceLimits = {
      places: this.#connections,
      queue: QUEUE_PER_CONNECTION * this.#connections,
      waitMs,
      what,
      mayHaveAll: this.#mayHaveAll,
    };
    if (!places.hasRoom(holder, limits))
      return places.wait(holder, limits, signal).then(() => placeOf(places, holder));
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
