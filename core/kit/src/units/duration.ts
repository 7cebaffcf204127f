/** Durations as a configuration writes them: `250ms`, `30s`, `10m`, `1h`, `7d`. */

const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** A duration as a regular expression without flags: for schemas and editors. */
export const DURATION_PATTERN = "^[0-9]{1,9}(ms|s|m|h|d)$";

const DURATION = new RegExp(DURATION_PATTERN);

/**
 * A duration in milliseconds. Returns `undefined` for a text that is not a duration, and for a
 * duration beyond ten years.
 */
export function parseDuration(text: string): number | undefined {
  const unit = DURATION.exec(text)?.[1];
  if (unit === undefined) return undefined;
  const milliseconds = Number(text.slice(0, -unit.length)) * (UNIT_MS[unit] ?? Number.NaN);
  return milliseconds <= MAX_MS ? milliseconds : undefined;
}

const MAX_MS = 3_650 * 86_400_000;
