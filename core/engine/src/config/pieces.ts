/** Work in pieces: done at once where nobody waits for anything else, and in turns with traffic in a process that serves. */

import { setTimeout as pause } from "node:timers/promises";

/** Work that may be left off at each of its yields, and goes on later. */
export type Pieces<Result> = Generator<void, Result, void>;

/** So long the thread works before everybody else has a turn. */
const TURN_MS = 2;
/** Enough for what waits; whatever a request waits for meanwhile comes in the next rest. */
const REST_MS = 1;

/** Does the work without a pause. */
export function atOnce<Result>(work: Pieces<Result>): Result {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

/** Does the work in turns. */
export async function inTurns<Result>(work: Pieces<Result>, turns = new Turns()): Promise<Result> {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
    if (turns.isOver) await turns.rest();
  }
}

/** The turns of one long work, with a rest after each. */
export class Turns {
  #beganMs = performance.now();

  /** Whether the work has had its turn. */
  get isOver(): boolean {
    return performance.now() - this.#beganMs >= TURN_MS;
  }

  /** Leaves the thread to others. */
  async rest(): Promise<void> {
    await pause(REST_MS);
    this.#beganMs = performance.now();
  }

  /** Leaves the thread to others when the turn is over. */
  async giveWay(): Promise<void> {
    if (this.isOver) await this.rest();
  }
}
