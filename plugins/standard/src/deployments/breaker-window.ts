/** Successes and failures of the last ten seconds. */

const SPANS = 10;
const SPAN_MS = 1_000;

/** A ring of ten counters of one second each. Times are monotonic. */
export class FailureWindow {
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
