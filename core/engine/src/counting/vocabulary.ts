/** The vocabulary of an encoding: bytes to rank, packed for the way between threads. */

/**
 * The vocabulary as two arrays: the bytes of every token, end to end, and how many each has. The
 * index is the rank.
 */
export interface PackedVocabulary {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly lengths: Uint8Array<ArrayBuffer>;
}

/** The vocabulary as it is searched. Keys are bytes as Latin-1 text: one character a byte. */
export interface Vocabulary {
  readonly ranks: ReadonlyMap<string, number>;
  /** Ranks of tokens of two bytes by `first << 8 | second`; -1 where there is none. */
  readonly pairs: Int32Array;
  /** Bytes of the longest token. */
  readonly longest: number;
}

/**
 * Tokens of gpt-tokenizer's tables: text where the bytes are UTF-8, else the bytes; the index is
 * the rank.
 */
export type RawTokens = readonly (string | readonly number[] | undefined)[];

/** Packs gpt-tokenizer's table. */
export function packVocabulary(tokens: RawTokens): PackedVocabulary {
  const encoded = tokens.map((token) => Buffer.from((token ?? []) as string));
  const lengths = Uint8Array.from(encoded, (token) => token.length);
  const bytes = new Uint8Array(encoded.reduce((total, token) => total + token.length, 0));
  let at = 0;
  for (const token of encoded) {
    bytes.set(token, at);
    at += token.length;
  }
  return { bytes, lengths };
}

/** Tokens unpacked between two looks at the clock. */
const LOOK_EVERY = 256;
/** The approximate length of a slice, in milliseconds. */
const SLICE_MS = 2;

/**
 * Unpacks a vocabulary; yields after each slice of the work, so that a thread that serves may do
 * something else.
 */
export function* unpackVocabulary({
  bytes,
  lengths,
}: PackedVocabulary): Generator<void, Vocabulary, void> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const ranks = new Map<string, number>();
  const pairs = new Int32Array(65_536).fill(-1);
  let longest = 0;
  let at = 0;
  let untilMs = performance.now() + SLICE_MS;
  for (let rank = 0; rank < lengths.length; rank++) {
    const length = lengths[rank] ?? 0;
    if (length > 0) ranks.set(buffer.toString("latin1", at, at + length), rank);
    if (length === 2) pairs[((buffer[at] ?? 0) << 8) | (buffer[at + 1] ?? 0)] = rank;
    if (length > longest) longest = length;
    at += length;
    if (rank % LOOK_EVERY !== 0 || performance.now() < untilMs) continue;
    yield;
    untilMs = performance.now() + SLICE_MS;
  }
  return { ranks, pairs, longest };
}

/** Unpacks a vocabulary at one go. */
export function unpackAtOnce(packed: PackedVocabulary): Vocabulary {
  const work = unpackVocabulary(packed);
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}
