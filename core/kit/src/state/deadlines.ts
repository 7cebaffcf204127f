/** Deadlines of one length: a single timer for all of them. */

import { Listed, OpenList } from "./open-list.ts";

/** Deadlines that pass in one turn of the event loop. */
const MAX_PASSED = 16;

/** A deadline that has been set. It is in its list while it is open. */
export class Deadline extends Listed {
  dueMs = 0;
  readonly list: Deadlines;
  readonly onPassed: () => void;

  constructor(list: Deadlines, onPassed: () => void) {
    super();
    this.list = list;
    this.onPassed = onPassed;
  }

  /** Restarts the deadline from now. Has no effect when it has ended or passed. */
  restart(): void {
    this.list.restart(this);
  }

  /** Ends the deadline. A second call has no effect. */
  end(): void {
    this.list.end(this);
  }
}

/**
 * Deadlines that nearly always end before they pass. A timer of Node costs four times as much, and
 * eight times where it is the only one of its length. Here one timer stays, for the oldest
 * deadline; when it fires and that one has ended, it goes on with the oldest that is left. The
 * timer keeps the process alive while a deadline is open, as one of its own would.
 *
 * A deadline passes after the event loop has read what arrived: a loop that was held reads a reply
 * that was in time first. Deadlines that were begun together pass in several turns: each ends a
 * request, and other requests are served in between.
 */
export class Deadlines {
  readonly #lengthMs: number;
  /** In the order of their passing. */
  readonly #open = new OpenList<Deadline>();
  #timer: NodeJS.Timeout | undefined;
  /** Sockets are read before the oldest deadlines pass. */
  #isReading = false;

  constructor(lengthMs: number) {
    this.#lengthMs = lengthMs;
  }

  /** Sets a deadline. `onPassed` is called once, unless the deadline ends before. */
  begin(onPassed: () => void): Deadline {
    const deadline = new Deadline(this, onPassed);
    this.#append(deadline);
    if (this.#timer !== undefined) {
      if (this.#open.size === 1) this.#timer.ref();
    } else if (!this.#isReading) this.#arm(this.#lengthMs);
    return deadline;
  }

  /** `restart` of a deadline of this list. */
  restart(deadline: Deadline): void {
    if (this.#open.delete(deadline)) this.#append(deadline);
  }

  /** `end` of a deadline of this list. */
  end(deadline: Deadline): void {
    if (this.#open.delete(deadline) && this.#open.size === 0) this.#timer?.unref();
  }

  #append(deadline: Deadline): void {
    deadline.dueMs = performance.now() + this.#lengthMs;
    this.#open.add(deadline);
  }

  #arm(ms: number): void {
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#readFirst();
    }, ms);
  }

  /** Looks at the oldest deadlines in the next turn, after its reads. */
  #readFirst(): void {
    this.#isReading = true;
    setImmediate(() => this.#look());
  }

  #look(): void {
    this.#isReading = false;
    const nowMs = performance.now();
    let passed = 0;
    for (let oldest = this.#open.oldest; oldest !== undefined; oldest = this.#open.oldest) {
      if (oldest.dueMs > nowMs) {
        // One that has passed may have set another, and armed the timer for that.
        if (this.#timer !== undefined) clearTimeout(this.#timer);
        this.#arm(Math.ceil(oldest.dueMs - nowMs));
        return;
      }
      if (passed === MAX_PASSED) {
        this.#readFirst();
        return;
      }
      passed += 1;
      this.#open.delete(oldest);
      oldest.onPassed();
    }
  }
}

const byLength = new Map<number, Deadlines>();

/** Maximum lengths with a list of their own. They come from the configuration. */
const MAX_LENGTHS = 256;

/** The deadlines of a length. Lengths are constants or the operator's: never a client's. */
export function deadlinesOf(lengthMs: number): Deadlines {
  let deadlines = byLength.get(lengthMs);
  if (deadlines === undefined) {
    deadlines = new Deadlines(lengthMs);
    // A dropped list keeps its timer for the deadlines that it has.
    if (byLength.size >= MAX_LENGTHS) byLength.clear();
    byLength.set(lengthMs, deadlines);
  }
  return deadlines;
}
