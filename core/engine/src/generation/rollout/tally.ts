/**
 * The tally of a generation that is being watched: how many of its requests failed, and how long
 * they waited.
 */

import type { Counted, Counter } from "./counted.ts";
import { EndedByKey, type EndedRequest, evidenceOf, hasFailed } from "./ended-by-key.ts";

/** Waits that are kept: the newest ones. */
const MAX_WAITS = 1_000;

/** Counts requests. */
export class Tally implements Counter {
  requests = 0;
  /** Requests that ended with a status from 500 on, streams that broke included. */
  errors = 0;
  /** The failures that are evidence against the generation. */
  readonly byKey = new EndedByKey();
  readonly #waits: { readonly ms: number; readonly key: string }[] = [];
  readonly #judge: (counted: Counted) => EndedRequest;
  readonly #onCounted: () => void;

  /** `judge` classifies a request as evidence. */
  constructor(
    onCounted: () => void = () => undefined,
    judge: (counted: Counted) => EndedRequest = (counted) => evidenceOf(counted, undefined),
  ) {
    this.#onCounted = onCounted;
    this.#judge = judge;
  }

  /** The newest waits for the first content. */
  get waits(): readonly { readonly ms: number; readonly key: string }[] {
    return this.#waits.filter((wait) => wait !== undefined);
  }

  /** Between 0 and 1; 0 without requests. */
  get errorRate(): number {
    return this.requests === 0 ? 0 : this.errors / this.requests;
  }

  add(counted: Counted): void {
    const { startedAtMs, attempts } = counted;
    const last = attempts.at(-1);
    const contentAtMs = last?.firstContentAtMs ?? last?.endedAtMs;
    const evidence = this.#judge(counted);
    if (contentAtMs !== undefined) {
      this.#waits[this.requests % MAX_WAITS] = { ms: contentAtMs - startedAtMs, key: evidence.key };
    }
    this.requests += 1;
    this.byKey.add(evidence);
    if (hasFailed(counted)) this.errors += 1;
    this.#onCounted();
  }

  /**
   * The wait for the first content, in milliseconds, that one in a hundred exceeds; `undefined`
   * without any.
   */
  p99Ms(): number | undefined {
    return p99Of(this.waits.map(({ ms }) => ms));
  }

  /**
   * Whether that wait exceeds a limit, and does so without the key that waited most often beyond
   * it, where there are several.
   */
  waitsExceed(limitMs: number): boolean {
    const { waits } = this;
    const byKey = countWaits(waits, limitMs);
    const [worst] = [...byKey].toSorted(([, one], [, other]) => bySlowWaits(one, other))[0] ?? [];
    const others = waits.filter(({ key }) => key !== worst).map(({ ms }) => ms);
    return (this.p99Ms() ?? 0) > limitMs && (this.byKey.isOneKey || (p99Of(others) ?? 0) > limitMs);
  }
}

/** The waits of one key: all, and those beyond the limit. */
interface KeyWaits {
  waits: number;
  slow: number;
}

/** The waits of each key. */
export function countWaits(waits: Tally["waits"], limitMs: number): ReadonlyMap<string, KeyWaits> {
  const byKey = new Map<string, KeyWaits>();
  for (const { ms, key } of waits) {
    const counts = byKey.get(key) ?? { waits: 0, slow: 0 };
    byKey.set(key, counts);
    counts.waits += 1;
    if (ms > limitMs) counts.slow += 1;
  }
  return byKey;
}

/**
 * Orders keys by their waits beyond the limit, most first; of as many, the key with fewer waits
 * comes first. A verdict does not depend on the order of the keys.
 */
export function bySlowWaits(one: Partial<KeyWaits>, other: Partial<KeyWaits>): number {
  return (other.slow ?? 0) - (one.slow ?? 0) || (one.waits ?? 0) - (other.waits ?? 0);
}

function p99Of(waits: readonly number[]): number | undefined {
  const sorted = waits.toSorted((left, right) => left - right);
  return sorted[Math.max(0, Math.ceil(sorted.length * 0.99) - 1)];
}
