/**
 * The time to first content of a target: a median over keys, so that one key's slow requests do not
 * change it.
 */

const SAMPLES = 32;
/** Samples that are this much older than the newest are dropped. */
const WINDOW_MS = 10_000;
/** A value without new samples decays, so that a formerly slow target is tried again. */
const FADE_MS = 10_000;
/** A value from a single key decays faster for other keys. */
const STRANGE_FADE_MS = 2_000;

interface Sample {
  readonly key: string;
  readonly ms: number;
  readonly atMs: number;
}

/** The newest samples. The value is the lower median over the keys' upper medians. */
export class Latency {
  readonly #samples: Sample[] = [];
  #next = 0;
  #newestMs = 0;
  #value: number | undefined;
  /** The key of all samples in the window; `undefined` when there are several. */
  #onlyKey: string | undefined;
  #isStale = false;

  /** The time of the newest sample. */
  get newestMs(): number {
    return this.#newestMs;
  }

  /** The value at the newest sample; `undefined` before the first. */
  get lastMs(): number | undefined {
    if (this.#isStale) this.#measure();
    return this.#value;
  }

  observe(ms: number, key: string, nowMs: number): void {
    this.#samples[this.#next] = { key, ms, atMs: nowMs };
    this.#next = (this.#next + 1) % SAMPLES;
    this.#newestMs = nowMs;
    this.#isStale = true;
  }

  /** The latency for a choice of this key. */
  faded(nowMs: number, key: string): number | undefined {
    const value = this.lastMs;
    if (value === undefined) return undefined;
    const fadeMs = this.#onlyKey === undefined || this.#onlyKey === key ? FADE_MS : STRANGE_FADE_MS;
    return value * Math.exp(-(nowMs - this.#newestMs) / fadeMs);
  }

  #measure(): void {
    this.#isStale = false;
    const byKey = new Map<string, number[]>();
    for (const { key, ms, atMs } of this.#samples) {
      if (this.#newestMs - atMs > WINDOW_MS) continue;
      const known = byKey.get(key);
      if (known === undefined) byKey.set(key, [ms]);
      else known.push(ms);
    }
    this.#onlyKey = byKey.size === 1 ? byKey.keys().next().value : undefined;
    const said = ascending(
      [...byKey.values()].map((times) => ascending(times)[times.length >> 1] ?? 0),
    );
    this.#value = said[(said.length - 1) >> 1];
  }
}

function ascending(values: readonly number[]): readonly number[] {
  return values.toSorted((a, b) => a - b);
}
