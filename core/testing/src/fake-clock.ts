/** A clock that moves when a test says so. */

import type { Clock } from "@sluice/contract";

/** A clock with hands. */
export interface FakeClock extends Clock {
  /** Moves both hands forward. */
  advance(ms: number): void;
}

/** A clock that stands at `startMs` (milliseconds since 1970); its monotonic hand starts at 0. */
export function fakeClock(startMs = Date.UTC(2026, 0, 1)): FakeClock {
  let elapsedMs = 0;
  return {
    now: () => startMs + elapsedMs,
    monotonic: () => elapsedMs,
    advance(ms) {
      elapsedMs += ms;
    },
  };
}
