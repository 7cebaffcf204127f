/** Deadlines of one length: a single timer for all of them. */

/** A deadline that has been set. */
export interface Deadline {
  readonly dueMs: number;
  readonly onPassed: () => void;
}

/**
 * Deadlines that nearly always end before they pass. Node keeps a list and a place in a queue for each length of timer, and makes
 * both anew when the list was empty: that is dearer than a timer in a list that has others. Here the timer stays, for the oldest
 * deadline; when it fires and that one has ended, it goes on with the oldest that is left.
 */
export class Deadlines {
  readonly #lengthMs: number;
  /** In the order of their passing. */
  readonly #open = new Set<Deadline>();
  #isArmed = false;

  constructor(lengthMs: number) {
    this.#lengthMs = lengthMs;
  }

  /** Sets a deadline. `onPassed` is called once, unless `end` comes before. */
  begin(onPassed: () => void): Deadline {
    const deadline = { dueMs: performance.now() + this.#lengthMs, onPassed };
    this.#open.add(deadline);
    if (!this.#isArmed) this.#arm(this.#lengthMs);
    return deadline;
  }

  /** Ends a deadline. Safe twice. */
  end(deadline: Deadline): void {
    this.#open.delete(deadline);
  }

  #arm(ms: number): void {
    this.#isArmed = true;
    // What a deadline is for keeps the process alive by itself.
    setTimeout(() => this.#look(), ms).unref();
  }

  #look(): void {
    this.#isArmed = false;
    const nowMs = performance.now();
    for (const deadline of this.#open) {
      if (deadline.dueMs > nowMs) {
        this.#arm(Math.ceil(deadline.dueMs - nowMs));
        return;
      }
      this.#open.delete(deadline);
      deadline.onPassed();
    }
  }
}

const byLength = new Map<number, Deadlines>();

/** The deadlines of a length. There are few lengths: they are constants. */
export function deadlinesOf(lengthMs: number): Deadlines {
  let deadlines = byLength.get(lengthMs);
  if (deadlines === undefined) byLength.set(lengthMs, (deadlines = new Deadlines(lengthMs)));
  return deadlines;
}
