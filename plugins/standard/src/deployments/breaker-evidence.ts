/**
 * The recent outcomes of a callee, and whether its failures suffice for an ejection. It needs
 * failures that a single client cannot cause.
 */

/** A failure, as evidence. */
export interface Evidence {
  /** The id of the request's key. */
  readonly key: string;
  /** A digest of the request's body. */
  readonly body: string;
  /** Whether no connection could be opened: no request can cause that. */
  readonly isForced: boolean;
}

/** Whose failures are evidence: those of several keys, or of one that is alone. */
export type EvidenceOf = "keys" | "lone key";

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
class FailuresByKey {
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
   * Whose failures make `consecutive` or more in a row evidence: those of two keys or more, or
   * those of a key that is alone and whose bodies differ.
   */
  ofRow(consecutive: number, key: string, nowMs: number): EvidenceOf | undefined {
    const others = Math.min(2, Math.max(1, consecutive >> 1));
    if (sumOf(this.#run).others.failures >= others) return "keys";
    return this.#ofLoneKey(this.#run, key, nowMs);
  }

  /**
   * Whose failures make their share evidence: it also holds without the key that has most failures,
   * or all are of a key that is alone and whose bodies differ.
   */
  ofShare(ratio: number, key: string, nowMs: number): EvidenceOf | undefined {
    this.#turn(nowMs);
    const both = new Map(this.#previous);
    for (const [name, tally] of this.#present) {
      const before = both.get(name);
      both.set(name, before === undefined ? tally : joined(before, tally));
    }
    const { others } = sumOf(both);
    if (others.failures >= 2 && others.failures >= ratio * others.total) return "keys";
    return this.#ofLoneKey(both, key, nowMs);
  }

  #ofLoneKey(
    tallies: ReadonlyMap<string, Tally>,
    key: string,
    nowMs: number,
  ): EvidenceOf | undefined {
    return this.isAlone(key, nowMs) && tallies.get(key)?.isVaried === true ? "lone key" : undefined;
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

const SPANS = 10;
const SPAN_MS = 1_000;

/** A ring of ten counters of one second each. Times are monotonic. */
class FailureWindow {
  readonly #totals = new Uint32Array(SPANS);
  readonly #failures = new Uint32Array(SPANS);
  /** Number of the newest span. */
  #newest = 0;

  add(nowMs: number, isFailure: boolean): void {
    this.#advance(nowMs);
    const place = this.#newest % SPANS;
    this.#totals[place] = (this.#totals[place] ?? 0) + 1;
    if (isFailure) this.#failures[place] = (this.#failures[place] ?? 0) + 1;
  }

  sum(nowMs: number): { readonly failures: number; readonly total: number } {
    this.#advance(nowMs);
    let failures = 0;
    let total = 0;
    for (let place = 0; place < SPANS; place += 1) {
      failures += this.#failures[place] ?? 0;
      total += this.#totals[place] ?? 0;
    }
    return { failures, total };
  }

  clear(): void {
    this.#totals.fill(0);
    this.#failures.fill(0);
  }

  /** Empties the spans that have become too old. */
  #advance(nowMs: number): void {
    const span = Math.floor(nowMs / SPAN_MS);
    const steps = Math.min(span - this.#newest, SPANS);
    for (let step = 0; step < steps; step += 1) {
      const place = (span - step) % SPANS;
      this.#totals[place] = 0;
      this.#failures[place] = 0;
    }
    if (steps > 0) this.#newest = span;
  }
}

/** The failures that eject. */
export interface FailureLimits {
  /** Failures in a row that eject. */
  readonly consecutive: number;
  /** The share of failures that ejects, from 0 to 1. */
  readonly ratio: number;
  /** Minimum attempts of the last ten seconds before the share counts. */
  readonly minRequests: number;
}

/** The reason of an ejection: failures in a row, or the share of failures. */
export interface EjectionGrounds {
  readonly by: "row" | "share";
  readonly of: EvidenceOf;
}

/** Outcomes since the last recovery. Times are on the monotonic clock. */
export class Outcomes {
  readonly #window = new FailureWindow();
  readonly #byKey = new FailuresByKey();
  #failuresInRow = 0;

  get failuresInRow(): number {
    return this.#failuresInRow;
  }

  /** Records a request of a key. */
  see(key: string, nowMs: number): void {
    this.#byKey.see(key, nowMs);
  }

  /** Whether all recent requests are of this key. */
  isAlone(key: string, nowMs: number): boolean {
    return this.#byKey.isAlone(key, nowMs);
  }

  addSuccess(key: string, nowMs: number): void {
    this.#failuresInRow = 0;
    this.#window.add(nowMs, false);
    this.#byKey.addSuccess(key, nowMs);
  }

  addFailure(failed: Evidence, nowMs: number): void {
    this.#failuresInRow += 1;
    this.#window.add(nowMs, true);
    this.#byKey.addFailure(failed, nowMs);
  }

  /** The reason to eject after a failure of a key; `undefined` when the failures do not suffice. */
  grounds(
    key: string,
    nowMs: number,
    { consecutive, ratio, minRequests }: FailureLimits,
  ): EjectionGrounds | undefined {
    if (this.#failuresInRow >= consecutive) {
      const of = this.#byKey.ofRow(consecutive, key, nowMs);
      if (of !== undefined) return { by: "row", of };
    }
    const { failures, total } = this.#window.sum(nowMs);
    if (total < minRequests || failures < ratio * total) return undefined;
    const of = this.#byKey.ofShare(ratio, key, nowMs);
    return of === undefined ? undefined : { by: "share", of };
  }

  clear(): void {
    this.#failuresInRow = 0;
    this.#window.clear();
    this.#byKey.clear();
  }
}
