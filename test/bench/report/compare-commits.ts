/**
 * How this checkout compares with another commit: ratios within each round, their median and their
 * spread.
 */

import type { TargetSlices } from "./tables.ts";
import type { Slice } from "../load/slice.ts";
import { median, percentile } from "../statistics.ts";

/** A line for each target of which both checkouts were measured. */
export function compareCommits(
  scenario: string,
  measured: readonly TargetSlices[],
  suffix: string,
): string[] {
  return measured.flatMap(({ target, slices }) => {
    const other = measured.find((entry) => entry.target === `${target}${suffix}`);
    if (other === undefined) return [];
    const ratios = (pick: (slice: Slice) => number) =>
      slices.flatMap((slice, round) => {
        const twin = other.slices[round];
        return twin === undefined ? [] : [pick(slice) / pick(twin)];
      });
    const cpu = spread(ratios((slice) => slice.cpuUs));
    const speed = spread(ratios((slice) => slice.requestsPerSecond));
    return [`- ${scenario}, ${target} ÷ ${target}${suffix}: CPU ${cpu}, req/s ${speed}`];
  });
}

/** `1.02 (0.98–1.07)`: the median, and the range of the middle half of the rounds. */
function spread(values: readonly number[]): string {
  const sorted = values.toSorted((a, b) => a - b);
  const figure = (value: number) => value.toFixed(3);
  return `${figure(median(sorted))} (${figure(percentile(sorted, 0.25))}–${figure(percentile(sorted, 0.75))})`;
}
