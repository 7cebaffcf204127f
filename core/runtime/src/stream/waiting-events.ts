/** The bound of a stream's events that wait: before the first content, and while it is held. */

import { GatewayError } from "@sluice/contract";

/** Maximum characters. An event may have a picture of many megabytes. */
const MAX_WAITING = 64 * 1024 * 1024;

/** A smaller event holds fewer choices and calls than take long. */
const LARGE_CHARACTERS = 32_768;

/** Counts the characters of events since frames were last taken. */
export class WaitingEvents {
  /** Whether the last event is large: what its frames hold is bounded. */
  isLarge = false;
  #characters = 0;

  /** Throws `upstream_invalid_response` for events without end that cannot be delivered. */
  add(data: string, isDelivered: boolean): void {
    this.isLarge = data.length > LARGE_CHARACTERS;
    this.#characters += data.length;
    if (this.#characters <= MAX_WAITING || isDelivered) return;
    throw new GatewayError(
      "upstream_invalid_response",
      "The upstream's stream has more than 64 MiB before a content that could be delivered.",
    );
  }

  taken(): void {
    this.#characters = 0;
  }
}
