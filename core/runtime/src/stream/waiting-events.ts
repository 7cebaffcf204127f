/** The bound of a stream's events that wait: before the first content, and while it is held. */

import { GatewayError } from "@sluice/contract";

/** Maximum characters. An event may have a picture of many megabytes. */
const MAX_WAITING = 64 * 1024 * 1024;

/** A smaller event holds fewer choices and calls than take long. */
const LARGE_CHARACTERS = 32_768;

/**
 * Maximum events. All of them are written in the turn of the first content: 200,000 chunks with a
 * role took 665 ms.
 */
const MAX_EVENTS = 8_192;

/** Counts the characters and the number of events since frames were last taken. */
export class WaitingEvents {
  /** Whether the last event is large: what its frames hold is bounded. */
  isLarge = false;
  #characters = 0;
  #events = 0;

  /** Throws `upstream_invalid_response` for events without end that cannot be delivered. */
  add(data: string, isDelivered: boolean): void {
    this.isLarge = data.length > LARGE_CHARACTERS;
    this.#characters += data.length;
    this.#events++;
    if (isDelivered) return;
    if (this.#events > MAX_EVENTS)
      throw new GatewayError(
        "upstream_invalid_response",
        `The upstream's stream has more than ${MAX_EVENTS} events before a content that could be delivered.`,
      );
    if (this.#characters <= MAX_WAITING) return;
    throw new GatewayError(
      "upstream_invalid_response",
      "The upstream's stream has more than 64 MiB before a content that could be delivered.",
    );
  }

  taken(): void {
    this.#characters = 0;
    this.#events = 0;
  }
}
