/** Deadlines of one length: a single timer for all of them. */

/** A deadline that has been set. It stands in its list, between its neighbours, while it is open. */
export class Deadline {
  dueMs = 0;
  readonly list: Deadlines;
  readonly onPassed: () => void;
  before: Deadline | undefined;
  after: Deadline | undefined;

  constructor(list: Deadlines, onPassed: () => void) {
    this.list = list;
    this.onPassed = onPassed;
    this.before = undefined;
    this.after = undefined;
  }

  /** Sets it anew, from now. Does nothing when it has ended or passed. */
  restart(): void {
    this.list.restart(this);
  }

  /** Ends it. Safe twice. */
  end(): void {
    this.list.end(this);
  }
}

/**
 * Deadlines that nearly always end before they pass. A timer of Node costs four times as much, and eight times where it is the
 * only one of its length. Here one timer stays, for the oldest deadline; when it fires and that one has ended, it goes on with the
 * oldest that is left. The timer keeps the process alive while a deadline is open, as one of its own would.
 *
 * A deadline passes after the event loop has read what arrived: a loop that was held reads a reply that was in time first.
 */
export class Deadlines {
  readonly #lengthMs: number;
  /** The ends of the list, in the order of their passing. */
  #oldest: Deadline | undefined;
  #newest: Deadline | undefined;
  #open = 0;
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
      if (this.#open === 1) this.#timer.ref();
    } else if (!this.#isReading) this.#arm(this.#lengthMs);
    return deadline;
  }

  /** `restart` of a deadline of this list. */
  restart(deadline: Deadline): void {
    if (!this.#isOpen(deadline)) return;
    this.#take(deadline);
    this.#append(deadline);
  }

  /** `end` of a deadline of this list. */
  end(deadline: Deadline): void {
    if (!this.#isOpen(deadline)) return;
    this.#take(deadline);
    if (this.#open === 0) this.#timer?.unref();
  }

  #isOpen(deadline: Deadline): boolean {
    return deadline.before !== undefined || this.#oldest === deadline;
  }

  #append(deadline: Deadline): void {
    deadline.dueMs = performance.now() + this.#lengthMs;
    const newest = this.#newest;
    deadline.before = newest;
    if (newest === undefined) this.#oldest = deadline;
    else newest.after = deadline;
    this.#newest = deadline;
    this.#open += 1;
  }

  #take(deadline: Deadline): void {
    const { before, after } = deadline;
    if (before === undefined) this.#oldest = after;
    else before.after = after;
    if (after === undefined) this.#newest = before;
    else after.before = before;
    deadline.before = undefined;
    deadline.after = undefined;
    this.#open -= 1;
  }

  #arm(ms: number): void {
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#isReading = true;
      setImmediate(() => this.#look());
    }, ms);
  }

  #look(): void {
    this.#isReading = false;
    const nowMs = performance.now();
    for (let oldest = this.#oldest; oldest !== undefined; oldest = this.#oldest) {
      if (oldest.dueMs > nowMs) {
        // One that has passed may have set another, and armed the timer for that.
        if (this.#timer !== undefined) clearTimeout(this.#timer);
        this.#arm(Math.ceil(oldest.dueMs - nowMs));
        return;
      }
      this.#take(oldest);
      oldest.onPassed();
    }
  }
}

const byLength = new Map<number, Deadlines>();

/** Lengths that have a list of their own. They come from the configuration, which is edited now and then. */
const MAX_LENGTHS = 256;

/** The deadlines of a length. Lengths are constants or the operator's: never a client's. */
export function deadlinesOf(lengthMs: number): Deadlines {
  let deadlines = byLength.get(lengthMs);
  if (deadlines === undefined) {
    deadlines = new Deadlines(lengthMs);
    // What is forgotten goes on with the deadlines that it has.
    if (byLength.size >= MAX_LENGTHS) byLength.clear();
    byLength.set(lengthMs, deadlines);
  }
  return deadlines;
}
