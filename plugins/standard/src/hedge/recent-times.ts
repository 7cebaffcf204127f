/** Recent times to first content of a model, with a part for each key. */

import type { Holder } from "@sluice/kit/internals";

/** Stored times for each kind of request. */
const SAMPLES = 128;
/** New times after which percentiles are computed again, to save a sort for each request. */
const REFRESH = 8;

interface Sample {
  readonly name: string;
  readonly ms: number;
}

/** The holder of a key's samples. The keys of a team share one. */
export function partName({ key, team }: Holder): string {
  return team === undefined ? `key:${key}` : `team:${team}`;
}

/**
 * The last times, in milliseconds. A full list drops the oldest time of the key with most of them.
 */
export class RecentTimes {
  /** From the oldest to the newest. */
  readonly #samples: Sample[] = [];
  readonly #counts = new Map<string, number>();
  #added = 0;
  #sortedAt = -Infinity;
  #sorted: readonly number[] = [];
  #sortedBy: ReadonlyMap<string, readonly number[]> = new Map();

  /** Number of stored times. */
  get count(): number {
    return this.#samples.length;
  }

  add(ms: number, holder: Holder): void {
    const name = partName(holder);
    this.#samples.push({ name, ms });
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
    this.#added += 1;
    if (this.#samples.length > SAMPLES) this.#dropOne();
  }

  /**
   * The percentile of all keys' times; `share` is 0 to 1. Returns `undefined` without times. A key
   * with `least` samples gets at most its own percentile. A key with fewer gets at most the median
   * percentile of the keys that have so many, so that one key's slow requests do not delay the
   * hedges of another.
   */
  percentile(share: number, holder: Holder, least: number): number | undefined {
    if (this.#added - this.#sortedAt >= REFRESH) this.#sort();
    const ofAll = ranked(this.#sorted, share);
    if (ofAll === undefined) return undefined;
    const own = this.#sortedBy.get(partName(holder)) ?? [];
    if (own.length >= least) return Math.min(ofAll, ranked(own, share) ?? ofAll);
    const said = [...this.#sortedBy.values()]
      .filter(({ length }) => length >= least)
      .flatMap((times) => ranked(times, share) ?? [])
      .toSorted((a, b) => a - b);
    return Math.min(ofAll, said[(said.length - 1) >> 1] ?? ofAll);
  }

  #dropOne(): void {
    let most: string | undefined;
    for (const [name, count] of this.#counts)
      if (most === undefined || count > (this.#counts.get(most) ?? 0)) most = name;
    const at = this.#samples.findIndex(({ name }) => name === most);
    const [dropped] = this.#samples.splice(at, 1);
    const left = (this.#counts.get(dropped?.name ?? "") ?? 0) - 1;
    if (left > 0) this.#counts.set(dropped?.name ?? "", left);
    else this.#counts.delete(dropped?.name ?? "");
  }

  #sort(): void {
    const byName = new Map<string, number[]>();
    for (const { name, ms } of this.#samples) {
      const own = byName.get(name);
      if (own === undefined) byName.set(name, [ms]);
      else own.push(ms);
    }
    for (const own of byName.values()) own.sort((a, b) => a - b);
    this.#sorted = this.#samples.map(({ ms }) => ms).toSorted((a, b) => a - b);
    this.#sortedBy = byName;
    this.#sortedAt = this.#added;
  }
}

function ranked(sorted: readonly number[], share: number): number | undefined {
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)];
}
