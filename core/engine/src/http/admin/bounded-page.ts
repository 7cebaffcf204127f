/** Pages of lists whose rows may be long. */

/** What an answer may take: a screen is one request of at most 64 KB. */
const MAX_BYTES = 60_000;

/** The first rows that fit. At least one is kept, so that a list goes on. */
export function fitting<Row>(rows: readonly Row[]): readonly Row[] {
  let left = MAX_BYTES;
  const index = rows.findIndex((row) => {
    left -= Buffer.byteLength(JSON.stringify(row)) + 1;
    return left < 0;
  });
  return index < 0 ? rows : rows.slice(0, Math.max(1, index));
}
