/** A peak-sensitive moving average: it rises at once and decays over ten seconds. Idea: Finagle's PeakEwma. */

const DECAY_MS = 10_000;

/** Average of the time to first content, in milliseconds. */
export class PeakAverage {
  #valueMs: number | undefined;
  #stampMs = 0;

  /** The average as it was when the last sample came; `undefined` before the first. */
  get lastMs(): number | undefined {
    return this.#valueMs;
  }

  observe(sampleMs: number, nowMs: number): void {
    const before = this.#valueMs;
    if (before === undefined || sampleMs >= before) {
      this.#valueMs = sampleMs;
    } else {
      const kept = Math.exp(-(nowMs - this.#stampMs) / DECAY_MS);
      this.#valueMs = before * kept + sampleMs * (1 - kept);
    }
    this.#stampMs = nowMs;
  }

  /** What a choice goes by: a value that nobody renews fades, so that a deployment that was slow once is tried again. */
  faded(nowMs: number): number | undefined {
    return this.#valueMs === undefined ? undefined : this.#valueMs * Math.exp(-(nowMs - this.#stampMs) / DECAY_MS);
  }
}
