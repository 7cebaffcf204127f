/** Figures of a proof and their goals. */

/** The figures that were measured so far. */
export interface Goals {
  /** Prints a figure, and notes whether it is at most its goal. */
  atMost(what: string, figure: number, goal: number, unit: string): void;
  readonly missed: readonly string[];
}

/** Makes an empty list. */
export function createGoals(): Goals {
  const missed: string[] = [];
  return {
    missed,
    atMost(what, figure, goal, unit) {
      const isMet = figure <= goal;
      if (!isMet) missed.push(what);
      const shown = Math.round(figure * 100) / 100;
      console.log(`${isMet ? "ok  " : "MISS"}  ${what}: ${shown} ${unit} (at most ${goal})`);
    },
  };
}

/** The value below which a share of the values is. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

/** Runs `work` so often, one after the other, and returns the milliseconds of each. */
export async function timed(times: number, work: (index: number) => Promise<unknown>) {
  const found: number[] = [];
  for (let index = 0; index < times; index++) {
    const startMs = performance.now();
    await work(index);
    found.push(performance.now() - startMs);
  }
  return found;
}
