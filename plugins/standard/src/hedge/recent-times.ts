/** The last times to the first content of a model, in which each key has a part. */

import type { Holder } from "@sluice/kit/internals";

/** Times that are remembered for each kind of request. */
const SAMPLES = 128;
/** New times after which percentiles are computed again: a sort for each request would be wasted. */
const REFRESH = 8;

interface Sample {
  readonly name: string;
  readonly ms: number;
}

/** The name under which a key is counted. The keys of a team are one. */
export function partName({ key, team }: Holder): string {
  return team === undefined ? `key:${key}` : `team:${team}`;
}

/** The last times, in milliseconds. A key with more of them than any other loses its own first. */
export class RecentTimes {
  /** From the oldest to the newest. */
  readonly #samples: Sample[] = [];
  readonly #counts = new Map<string, number>();
  #added = 0;
  #sortedAt = -Infinity;
  #sorted: readonly number[] = [];
  #sortedBy: ReadonlyMap<string, readonly number[]> = new Map();

  /** Times that are remembered. */
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
   * The time that a share of requests, from 0 to 1, did not exceed; `undefined` before the first. It is that of all keys, and at most
   * that of the key's own requests where it has `least` of them. For a key with fewer, it is at most what most keys say that have so
   * many: the slow requests of one key put off the hedges of no other.
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
    for (const [name, count] of this.#counts) if (most === undefined || count > (this.#counts.get(most) ?? 0)) most = name;
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
