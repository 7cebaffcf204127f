/** What was seen in a soak, as figures with goals. */

import type { Held } from "./gateway-child.ts";
import type { Sight } from "./traffic.ts";

/** One look at what the gateway holds, after so many reloads. */
export interface Look extends Held {
  readonly reloads: number;
}

/** When a reload began and when it was live. */
export interface Swap {
  readonly beganMs: number;
  readonly endedMs: number;
}

/** The figures of a soak. */
export interface SoakResult {
  readonly reloads: number;
  readonly requests: number;
  readonly streams: number;
  readonly refused: number;
  readonly failed: number;
  /** The first faults, by how often. */
  readonly faults: Readonly<Record<string, number>>;
  /** Replies of one generation that name different edits. */
  readonly mixed: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Of requests that ran while a generation was made and swapped in. */
  readonly p50SwapMs: number;
  readonly p99SwapMs: number;
  readonly swapP50Ms: number;
  /** Megabytes a reload, after the warm-up; `undefined` for fewer than three looks. */
  readonly rssSlopeMb: number | undefined;
  readonly heapSlopeMb: number | undefined;
  /** The last look less the first after the warm-up. */
  readonly handlesGrown: number;
  readonly filesGrown: number;
  readonly looks: readonly Look[];
}

/** What was done meanwhile. */
export interface Observed {
  readonly swaps: readonly Swap[];
  readonly looks: readonly Look[];
  /** Spans in which the gateway was made to do what it never does in earnest. */
  readonly pauses?: readonly Swap[];
}

/** Computes the figures of a soak. */
export function soakResult(
  sights: readonly Sight[],
  { swaps, looks, pauses = [] }: Observed,
): SoakResult {
  const failed = sights.filter(({ outcome }) => outcome === "failed");
  const whole = sights.filter(({ outcome, isStream }) => outcome === "served" && !isStream);
  const isOver = (spans: readonly Swap[], { beganMs, tookMs }: Sight): boolean =>
    spans.some((span) => beganMs < span.endedMs && beganMs + tookMs > span.beganMs);
  const timed = whole.filter((sight) => !isOver(pauses, sight));
  const times = (of: readonly Sight[]): number[] =>
    of.map(({ tookMs }) => tookMs).toSorted((left, right) => left - right);
  const [during, between] = [
    times(timed.filter((sight) => isOver(swaps, sight))),
    times(timed.filter((sight) => !isOver(swaps, sight))),
  ];
  const faults: Record<string, number> = {};
  for (const { fault } of failed) faults[fault ?? ""] = (faults[fault ?? ""] ?? 0) + 1;
  const grown = (of: (look: Look) => number): number =>
    looks.length < 2 ? 0 : of(looks.at(-1)!) - of(looks[0]!);
  return {
    reloads: swaps.length,
    requests: sights.length,
    streams: sights.filter(({ isStream }) => isStream).length,
    refused: sights.filter(({ outcome }) => outcome === "refused").length,
    failed: failed.length,
    faults,
    mixed: countMixed(sights),
    p50Ms: quantile(between, 0.5),
    p99Ms: quantile(between, 0.99),
    p50SwapMs: quantile(during, 0.5),
    p99SwapMs: quantile(during, 0.99),
    swapP50Ms: quantile(
      swaps
        .map(({ beganMs, endedMs }) => endedMs - beganMs)
        .toSorted((left, right) => left - right),
      0.5,
    ),
    rssSlopeMb: slope(looks, ({ rss }) => rss / MB),
    heapSlopeMb: slope(looks, ({ heapUsed }) => heapUsed / MB),
    handlesGrown: grown(({ handles }) => handles),
    filesGrown: grown(({ files }) => files),
    looks,
  };
}

const MB = 1024 * 1024;

/**
 * A generation is made of one edit: a reply that names another one than the others of its
 * generation has seen two.
 */
function countMixed(sights: readonly Sight[]): number {
  const edits = new Map<string, string>();
  let mixed = 0;
  for (const { generation, edit, outcome } of sights) {
    if (outcome !== "served" || edit === undefined) continue;
    if (generation === undefined || (edits.get(generation) ?? edit) !== edit) mixed += 1;
    else edits.set(generation, edit);
  }
  return mixed;
}

/** Of sorted numbers. `NaN` of none. */
function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** The slope of the line that fits best, by least squares. */
function slope(looks: readonly Look[], of: (look: Look) => number): number | undefined {
  if (looks.length < 3) return undefined;
  const mean = (values: readonly number[]): number =>
    values.reduce((sum, value) => sum + value, 0) / values.length;
  const x = looks.map(({ reloads }) => reloads);
  const y = looks.map(of);
  const [meanX, meanY] = [mean(x), mean(y)];
  const above = x.reduce(
    (sum, value, index) => sum + (value - meanX) * ((y[index] ?? 0) - meanY),
    0,
  );
  const below = x.reduce((sum, value) => sum + (value - meanX) ** 2, 0);
  return below === 0 ? undefined : above / below;
}
