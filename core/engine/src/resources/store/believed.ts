/** How long an entry of a memory is believed. */

/** An entry. */
export interface Believed {
  /** Milliseconds since 1970. */
  untilMs: number;
  /** The monotonic time at which the store had it so. */
  asOfMs: number;
}

/** The entry has changed: the store is asked, and it is never served without an answer. */
export function expireNow(entry: Believed): void {
  entry.untilMs = 0;
  entry.asOfMs = -Infinity;
}

/** The entry may have changed since a time: the store is asked. */
export function recheckFrom(entry: Believed, asOfMs: number): void {
  entry.untilMs = 0;
  entry.asOfMs = Math.min(entry.asOfMs, asOfMs);
}
