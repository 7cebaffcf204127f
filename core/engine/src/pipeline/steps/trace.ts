/**
 * The trace of one exchange: which steps ran, how long each took by itself, and what they said of
 * their decisions.
 */

import type { Clock } from "@sluice/contract";

/** Where an exchange is before its first step and after it. */
const OUTSIDE = -1;
/** Where an exchange is while its body arrives. */
export const IN_BODY = -2;

/** Decisions of one exchange that are kept. */
const MAX_NOTES = 32;

/** What a step said of a decision. */
export interface StepNote {
  step: string;
  /** The step that was running, by its place in the pipeline. */
  place: number;
  text: string;
  about: string | undefined;
}

/**
 * Measures the time of each step of one exchange. Every change from one step to another reads the
 * clock once: the time since the last change belongs to the step that was running.
 */
export class StepTrace {
  /**
   * Milliseconds of each step that was reached, without those of the steps within; by its place.
   */
  readonly ownMs: number[] = [];
  /** How often each step that was reached has run; by its place. */
  readonly runs: number[] = [];
  /**
   * The code that the last run of a step failed with, by its place; `undefined` while none has
   * failed.
   */
  failures: (string | undefined)[] | undefined;
  notes: StepNote[] | undefined;
  /** Milliseconds in which the body arrived and was checked. */
  bodyMs = 0;
  readonly #clock: Clock;
  #place = OUTSIDE;
  #sinceMs: number;

  constructor(clock: Clock, nowMs: number) {
    this.#clock = clock;
    this.#sinceMs = nowMs;
  }

  /** A step begins to run. */
  enter(place: number): void {
    this.turnTo(place);
    if (place === this.ownMs.length) {
      this.ownMs.push(0);
      this.runs.push(1);
      return;
    }
    this.runs[place] = (this.runs[place] ?? 0) + 1;
    if (this.failures !== undefined) this.failures[place] = undefined;
  }

  /** A step has ended: the one around it goes on. */
  leave(place: number): void {
    this.turnTo(place - 1);
  }

  /** The run of a step has failed. */
  fail(place: number, code: string): void {
    this.failures ??= [];
    this.failures[place] = code;
  }

  /** Ends the time of the running step and begins another's. Returns the place of the former. */
  turnTo(place: number): number {
    const nowMs = this.#clock.monotonic();
    const before = this.#place;
    if (before >= 0) this.ownMs[before] = (this.ownMs[before] ?? 0) + nowMs - this.#sinceMs;
    else if (before === IN_BODY) this.bodyMs += nowMs - this.#sinceMs;
    this.#place = place;
    this.#sinceMs = nowMs;
    return before;
  }

  /** Keeps what a step says. Beyond 32 decisions nothing more is kept. */
  note(step: string, text: string, about: string | undefined): void {
    this.notes ??= [];
    if (this.notes.length < MAX_NOTES) this.notes.push({ step, place: this.#place, text, about });
  }
}
