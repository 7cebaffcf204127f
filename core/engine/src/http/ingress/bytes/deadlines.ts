/** Deadlines of one length: a single timer for all of them. */

/** A deadline that has been set. */
export interface Deadline {
  readonly dueMs: number;
  readonly onPassed: () => void;
}

/**
 * Deadlines that rarely pass. Node keeps a list for each duration of timers and allocates it again after it was empty, which costs
 * more than a timer in a list with others. Here one timer stays for the oldest deadline. When it fires after that deadline's end, it
 * is set for the oldest remaining one.
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

  /** Ends a deadline. A second call has no effect. */
  end(deadline: Deadline): void {
    this.#open.delete(deadline);
  }

  #arm(ms: number): void {
    this.#isArmed = true;
    // The body under way keeps the process alive, not its deadline.
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
