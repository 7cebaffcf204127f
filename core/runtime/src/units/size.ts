/** Sizes as a configuration writes them: `512b`, `64kb`, `20mb`, `1gb`. One kb is 1024 bytes. */

const UNIT_BYTES: Readonly<Record<string, number>> = {
  b: 1,
  kb: 1_024,
  mb: 1_048_576,
  gb: 1_073_741_824,
};

/** A size as a regular expression without flags: for schemas and editors. */
export const SIZE_PATTERN = "^[0-9]{1,9}(b|kb|mb|gb)$";

const SIZE = new RegExp(SIZE_PATTERN);

/**
 * A size in bytes. Returns `undefined` for a text that is not a size, and for a number that is not
 * exact.
 */
export function parseSize(text: string): number | undefined {
  const unit = SIZE.exec(text)?.[1];
  if (unit === undefined) return undefined;
  const bytes = Number(text.slice(0, -unit.length)) * (UNIT_BYTES[unit] ?? Number.NaN);
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}
