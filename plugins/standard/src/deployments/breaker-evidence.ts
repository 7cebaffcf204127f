/** Evidence against a target: an ejection needs failures that a single client cannot cause. */

/** A failure, as evidence. */
export interface Evidence {
  /** The id of the request's key. */
  readonly key: string;
  /** A digest of the request's body. */
  readonly body: string;
  /** Whether no connection could be opened: no request can cause that. */
  readonly isForced: boolean;
}

interface Tally {
  total: number;
  failures: number;
  /** The digest of the first failure's body. */
  body: string | undefined;
  /** Whether another failure had another body. */
  isVaried: boolean;
}

/** Outcomes of the last five to ten seconds are kept. */
const HALF_MS = 5_000;
/** A key is alone after this time without a request of another key. */
const ALONE_MS = 10_000;
/** Maximum of keys with a tally of their own. Further keys share one. */
const MAX_KEYS = 64;
const FORCED = "\0forced";
const OTHERS = "\0others";

/**
 * Failures by key: those in a row, and those of the last seconds. Times are on one clock and never
 * go back.
 */
export class FailuresByKey {
  /** The failures since the last success. */
  #run = new Map<string, Tally>();
  #present = new Map<string, Tally>();
  #previous = new Map<string, Tally>();
  #turnedMs = 0;
  #lastKey: string | undefined;
  #lastMs = -Infinity;
  /** The time of the last request of another key. */
  #otherMs = -Infinity;

  /** Records a request of a key. */
  see(key: string, nowMs: number): void {
    if (key !== this.#lastKey) {
      this.#otherMs = this.#lastMs;
      this.#lastKey = key;
    }
    this.#lastMs = nowMs;
  }

  /** Whether no other key had a recent request. */
  isAlone(key: string, nowMs: number): boolean {
    return nowMs - (key === this.#lastKey ? this.#otherMs : this.#lastMs) > ALONE_MS;
  }

  addSuccess(key: string, nowMs: number): void {
    this.see(key, nowMs);
    if (this.#run.size > 0) this.#run = new Map();
    this.#turn(nowMs);
    tallyOf(this.#present, key).total += 1;
  }

  addFailure({ key, body, isForced }: Evidence, nowMs: number): void {
    this.see(key, nowMs);
    const owner = isForced ? FORCED : key;
    this.#turn(nowMs);
    addTo(tallyOf(this.#run, owner), body);
    addTo(tallyOf(this.#present, owner), body);
  }

  clear(): void {
    this.#run = new Map();
    this.#present = new Map();
    this.#previous = new Map();
  }

  /**
   * Whether `consecutive` or more failures in a row are evidence: they come from two keys or more,
   * or from a key that is alone and whose bodies differ.
   */
  areInRow(consecutive: number, key: string, nowMs: number): boolean {
    const others = Math.min(2, Math.max(1, consecutive >> 1));
    if (sumOf(this.#run).others.failures >= others) return true;
    return this.isAlone(key, nowMs) && this.#run.get(key)?.isVaried === true;
  }

  /**
   * Whether the share of failures is evidence: it also holds without the key that has most
   * failures.
   */
  areShare(ratio: number, key: string, nowMs: number): boolean {
    this.#turn(nowMs);
    const both = new Map(this.#previous);
    for (const [name, tally] of this.#present) {
      const before = both.get(name);
      both.set(name, before === undefined ? tally : joined(before, tally));
    }
    const { others } = sumOf(both);
    if (others.failures >= 2 && others.failures >= ratio * others.total) return true;
    return this.isAlone(key, nowMs) && both.get(key)?.isVaried === true;
  }

  #turn(nowMs: number): void {
    const passedMs = nowMs - this.#turnedMs;
    if (passedMs < HALF_MS) return;
    this.#previous = passedMs < 2 * HALF_MS ? this.#present : new Map();
    this.#present = new Map();
    this.#turnedMs = nowMs;
  }
}

function tallyOf(tallies: Map<string, Tally>, key: string): Tally {
  const known = tallies.get(key);
  if (known !== undefined) return known;
  const owner = tallies.size < MAX_KEYS || key === FORCED ? key : OTHERS;
  const shared = tallies.get(owner);
  if (shared !== undefined) return shared;
  const tally: Tally = { total: 0, failures: 0, body: undefined, isVaried: false };
  tallies.set(owner, tally);
  return tally;
}

function addTo(tally: Tally, body: string): void {
  tally.total += 1;
  tally.failures += 1;
  tally.body ??= body;
  if (tally.body !== body) tally.isVaried = true;
}

function joined(a: Tally, b: Tally): Tally {
  return {
    total: a.total + b.total,
    failures: a.failures + b.failures,
    body: a.body ?? b.body,
    isVaried:
      a.isVaried ||
      b.isVaried ||
      (a.body !== undefined && b.body !== undefined && a.body !== b.body),
  };
}

/**
 * The tally without the key that has most failures. Failures that no request can cause belong to no
 * key and stay.
 */
function sumOf(tallies: ReadonlyMap<string, Tally>): {
  readonly others: { readonly total: number; readonly failures: number };
} {
  let total = 0;
  let failures = 0;
  let worst: Tally | undefined;
  for (const [key, tally] of tallies) {
    total += tally.total;
    failures += tally.failures;
    if (key !== FORCED && (worst === undefined || tally.failures > worst.failures)) worst = tally;
  }
  return {
    others: { total: total - (worst?.total ?? 0), failures: failures - (worst?.failures ?? 0) },
  };
}
