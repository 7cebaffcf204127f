/**
 * Byte-pair merging, counted and not kept. The usual loop looks for the lowest pair anew after each
 * merge, which is quadratic in a piece without word breaks (100 KB of Chinese: 13 s). A heap of the
 * pairs makes it n log n and stays exact.
 */

import type { Vocabulary } from "./vocabulary.ts";

/**
 * Longer pieces are counted in parts of this many bytes. A power of two: the place in a part is the
 * low bits of an entry.
 */
export const MAX_PIECE_BYTES = 2_048;
const PLACE_BITS = 11;
const PLACE_MASK = MAX_PIECE_BYTES - 1;
const NO_RANK = -1;

/** Counts the tokens of one piece; bytes as Latin-1 text, at most MAX_PIECE_BYTES of them. */
export type PieceCounter = (piece: string) => number;

/**
 * A counter for pieces. It keeps its arrays from call to call, so it is not to be called from
 * within itself.
 */
export function createPieceCounter({ ranks, pairs, longest }: Vocabulary): PieceCounter {
  const next = new Int32Array(MAX_PIECE_BYTES + 1);
  const previous = new Int32Array(MAX_PIECE_BYTES + 1);
  /** The rank that the part at a place would have when merged with the one behind it. */
  const merged = new Int32Array(MAX_PIECE_BYTES + 1);
  // Each merge takes one entry and adds two at most.
  const heap = new RankHeap(MAX_PIECE_BYTES * 3);

  const consider = (piece: string, start: number, end: number): void => {
    const rank = end - start > longest ? NO_RANK : (ranks.get(piece.slice(start, end)) ?? NO_RANK);
    merged[start] = rank;
    if (rank !== NO_RANK) heap.push((rank << PLACE_BITS) | start);
  };

  return (piece) => {
    const size = piece.length;
    for (let place = 0; place < size; place++) {
      next[place] = place + 1;
      previous[place] = place - 1;
      const rank =
        place + 1 < size
          ? pairs[(piece.charCodeAt(place) << 8) | piece.charCodeAt(place + 1)]!
          : NO_RANK;
      merged[place] = rank;
      if (rank !== NO_RANK) heap.push((rank << PLACE_BITS) | place);
    }
    let tokens = size;
    while (heap.size > 0) {
      const entry = heap.pop();
      const place = entry & PLACE_MASK;
      // The part has been merged since, with another one or into another one.
      if (merged[place] !== entry >> PLACE_BITS) continue;
      const middle = next[place]!;
      const end = next[middle]!;
      next[place] = end;
      merged[middle] = NO_RANK;
      tokens--;
      if (end < size) {
        previous[end] = place;
        consider(piece, place, next[end]!);
      } else {
        merged[place] = NO_RANK;
      }
      const before = previous[place]!;
      if (before >= 0) consider(piece, before, end);
    }
    return tokens;
  };
}

/** A binary heap of integers, the least on top. */
class RankHeap {
  size = 0;
  readonly #entries: Int32Array;

  constructor(capacity: number) {
    this.#entries = new Int32Array(capacity);
  }

  push(entry: number): void {
    const entries = this.#entries;
    let at = this.size++;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = entries[parent]!;
      if (above <= entry) break;
      entries[at] = above;
      at = parent;
    }
    entries[at] = entry;
  }

  pop(): number {
    const entries = this.#entries;
    const top = entries[0]!;
    const size = --this.size;
    const entry = entries[size]!;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= size) break;
      if (child + 1 < size && entries[child + 1]! < entries[child]!) child++;
      const below = entries[child]!;
      if (below >= entry) break;
      entries[at] = below;
      at = child;
    }
    entries[at] = entry;
    return top;
  }
}
