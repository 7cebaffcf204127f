/**
 * The waits of one upstream call: for its next byte, and for the end of the race with a connection
 * that is being closed.
 */

import { type Deadline, deadlinesOf } from "../../state/deadlines.ts";

/**
 * Bounds of the estimated round trip (the time to open the connection). A loss within it means a
 * stale connection.
 */
const MIN_RACE_MS = 100;
const MAX_RACE_MS = 250;
/** The estimate is rounded up to this: the races of all calls have few lengths. */
const RACE_STEP_MS = 50;

/** The deadlines of one call, in the lists that all calls share. */
export class CallWaits {
  #wait: Deadline | undefined;
  #race: Deadline | undefined;

  /** Begins a wait in place of the one that is open. */
  begin(ms: number, onPassed: () => void): void {
    this.#wait?.end();
    this.#wait = deadlinesOf(ms).begin(onPassed);
  }

  /** Restarts the open wait. */
  restart(): void {
    this.#wait?.restart();
  }

  end(): void {
    this.#wait?.end();
    this.#race?.end();
  }

  /**
   * `onOver` is called after a round trip. A loss that arrived until then is read before, as for
   * each deadline.
   */
  beginRace(openedInMs: number, onOver: () => void): void {
    const roundTripMs = Math.ceil(openedInMs / RACE_STEP_MS) * RACE_STEP_MS;
    const raceMs = Math.min(MAX_RACE_MS, Math.max(MIN_RACE_MS, roundTripMs));
    this.#race = deadlinesOf(raceMs).begin(onOver);
  }

  endRace(): void {
    this.#race?.end();
  }
}
