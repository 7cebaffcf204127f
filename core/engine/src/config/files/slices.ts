/**
 * Work in pieces: run at once in a command, or in time slices between the requests of a serving
 * process.
 */

import { setTimeout as sleep } from "node:timers/promises";

/** Work that can pause at each of its yields. */
export type Pieces<Result> = Generator<void, Result, void>;

/** Length of a time slice, in milliseconds. */
const SLICE_MS = 2;
/** Pause after a slice, in milliseconds, in which waiting requests run. */
const PAUSE_MS = 1;

/** Runs the work without a pause. */
export function atOnce<Result>(work: Pieces<Result>): Result {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

/** Runs the work in time slices. */
export async function inSlices<Result>(
  work: Pieces<Result>,
  slices = new TimeSlices(),
): Promise<Result> {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
    if (slices.isOver) await slices.pause();
  }
}

/** The time slices of one long piece of work, with a pause after each. */
export class TimeSlices {
  #beganMs = performance.now();

  /** Whether the current slice is used up. */
  get isOver(): boolean {
    return performance.now() - this.#beganMs >= SLICE_MS;
  }

  /** Pauses, so that other work of the thread runs. */
  async pause(): Promise<void> {
    await sleep(PAUSE_MS);
    this.#beganMs = performance.now();
  }

  /** Pauses when the current slice is used up. */
  async pauseIfOver(): Promise<void> {
    if (this.isOver) await this.pause();
  }
}
