/** The time to first content of a target: what it is for most keys, so that one key's slow requests move no other. */

const SAMPLES = 32;
/** Samples that are much older than the newest say nothing. */
const WINDOW_MS = 10_000;
/** A value that nothing renews fades, so that a target that was slow once is tried again. */
const FADE_MS = 10_000;
/** What one key alone has seen fades faster for the others. */
const STRANGE_FADE_MS = 2_000;

interface Sample {
  readonly key: string;
  readonly ms: number;
  readonly atMs: number;
}

/** The newest samples. Each key says the upper median of its own; the value is the lower median of what the keys say. */
export class Latency {
  readonly #samples: Sample[] = [];
  #next = 0;
  #newestMs = 0;
  #value: number | undefined;
  /** The key of all samples in the window; `undefined` when there are several. */
  #onlyKey: string | undefined;
  #isStale = false;

  /** When the newest sample came. */
  get newestMs(): number {
    return this.#newestMs;
  }

  /** The value as it was when the newest sample came; `undefined` before the first. */
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

  /** What a choice for a key goes by. */
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
    const said = ascending([...byKey.values()].map((times) => ascending(times)[times.length >> 1] ?? 0));
    this.#value = said[(said.length - 1) >> 1];
  }
}

function ascending(values: readonly number[]): readonly number[] {
  return values.toSorted((a, b) => a - b);
}
