/** How far two words are apart, for "did you mean". */

/**
 * The Damerau-Levenshtein distance (optimal string alignment): insertions, deletions,
 * substitutions, neighbours swapped.
 */
export function distance(left: string, right: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const cost = left[row - 1] === right[column - 1] ? 0 : 1;
      let best = Math.min(current[column - 1]! + 1, last[column]! + 1, last[column - 1]! + cost);
      const swapped =
        row > 1 &&
        column > 1 &&
        left[row - 1] === right[column - 2] &&
        left[row - 2] === right[column - 1];
      if (swapped) best = Math.min(best, beforeLast[column - 2]! + 1);
      current.push(best);
    }
    beforeLast = last;
    last = current;
  }
  return last[right.length]!;
}

/**
 * The candidate a person most likely meant, `undefined` when none is near: at most one slip in
 * three letters.
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(word.length / 3)) + 1;
  if (word.length > MAX_WORD) return undefined;
  for (const candidate of candidates) {
    if (candidate.length > MAX_WORD) continue;
    const found = distance(word.toLowerCase(), candidate.toLowerCase());
    if (found < bestDistance) {
      best = candidate;
      bestDistance = found;
    }
  }
  return best;
}

const MAX_WORD = 200;
