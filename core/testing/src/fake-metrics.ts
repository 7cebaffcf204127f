/** Metrics for tests: numbers that a test reads back. */

import type { Metrics } from "@sluice/contract";

/** Metrics that remember. */
export interface FakeMetrics extends Metrics {
  /**
   * What the cell of a metric says: the sum of a counter, the last value of a gauge, how many
   * values a histogram had.
   */
  valueOf(name: string, ...labels: readonly string[]): number | undefined;
}

/** Metrics without a page. Names and labels are taken as they come. */
export function fakeMetrics(): FakeMetrics {
  const values = new Map<string, number>();
  const cells =
    (name: string) =>
    (...labels: readonly string[]) => {
      const key = JSON.stringify([name, ...labels]);
      const add = (amount = 1): void => void values.set(key, (values.get(key) ?? 0) + amount);
      return { add, set: (value: number) => void values.set(key, value), observe: () => add() };
    };
  return {
    counter: ({ name }) => ({ with: cells(name) }),
    gauge: ({ name }) => ({ with: cells(name) }),
    histogram: ({ name }) => ({ with: cells(name) }),
    valueOf: (name, ...labels) => values.get(JSON.stringify([name, ...labels])),
  };
}
