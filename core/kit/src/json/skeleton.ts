/**
 * Reads a large reply without its large values: vectors and images are cut out of the bytes, and
 * the rest, the skeleton, is parsed. See core/decisions/2026-11-20-embeddings-bytes.md for the
 * proven and the unproven properties of the bytes.
 */

import { findMember } from "./members.ts";

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const OPEN_BRACKET = 91;
const BACKSLASH = 92;
const CLOSE_BRACKET = 93;

/** 1 for each byte that an array of numbers may contain. */
const IS_NUMERIC = new Uint8Array(256);
for (const character of "0123456789+-.eE, \n\r\t") IS_NUMERIC[character.charCodeAt(0)] = 1;

/**
 * A mask: non-zero in a word with a byte of 64 or more, which is a letter, a bracket or a brace.
 */
const LETTER_BITS = 0xc0c0c0c0 | 0;

/** A span that was cut out: its place in the skeleton's bytes, and its length. */
interface Cut {
  readonly at: number;
  readonly length: number;
}

/** JSON bytes without the contents of some values. */
export class Skeleton {
  /** The JSON text with `[]` or `""` in place of each cut value. It may still be invalid JSON. */
  readonly text: string;
  readonly #bytes: Buffer;
  readonly #cuts: readonly Cut[];
  readonly #values: readonly Buffer[];

  /**
   * Cuts the values of every member called `key`: strings, and arrays of numbers only. Other values
   * of such a member stay. `key` is plain ASCII. Takes linear time in the length of `body`, on any
   * bytes.
   */
  constructor(body: Uint8Array, key: string) {
    this.#bytes = withoutMark(Buffer.from(body.buffer, body.byteOffset, body.byteLength));
    const kept: Buffer[] = [];
    const cuts: Cut[] = [];
    const values: Buffer[] = [];
    let from = 0;
    let size = 0;
    for (const [start, end] of findValues(this.#bytes, key)) {
      kept.push(this.#bytes.subarray(from, start));
      size += start - from;
      cuts.push({ at: size, length: end - start });
      values.push(this.#bytes.subarray(start - 1, end + 1));
      from = end;
    }
    kept.push(this.#bytes.subarray(from));
    this.#cuts = cuts;
    this.#values = values;
    this.text = (kept.length === 1 ? this.#bytes : Buffer.concat(kept)).toString("utf8");
  }

  /** The cut values, brackets or quotes included, in order. */
  get values(): readonly Buffer[] {
    return this.#values;
  }

  /** The whole body without its byte order mark. */
  get bytes(): Buffer {
    return this.#bytes;
  }

  /**
   * The body with one top-level member set, in pieces: the other pieces are the body's own bytes.
   * The skeleton must be a JSON object with a member.
   */
  with(name: string, json: string): readonly Buffer[] {
    const member = findMember(this.text, name);
    if (member === undefined) {
      const open = this.#offset(this.text.indexOf("{") + 1);
      return this.#splice(open, open, `${JSON.stringify(name)}:${json},`);
    }
    return this.#splice(this.#offset(member.valueStart), this.#offset(member.end), json);
  }

  #splice(start: number, end: number, json: string): readonly Buffer[] {
    return [this.#bytes.subarray(0, start), Buffer.from(json), this.#bytes.subarray(end)];
  }

  /** The offset in the body of an offset in the text. */
  #offset(index: number): number {
    const inSkeleton = Buffer.byteLength(this.text.slice(0, index));
    let cut = 0;
    for (const { at, length } of this.#cuts) {
      if (at >= inSkeleton) break;
      cut += length;
    }
    return inSkeleton + cut;
  }
}

function withoutMark(bytes: Buffer): Buffer {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

/** The contents of the values to cut: offsets, the end exclusive. */
function* findValues(bytes: Buffer, key: string): Generator<readonly [start: number, end: number]> {
  const quoted = Buffer.from(JSON.stringify(key));
  let at = nextQuote(bytes, 0);
  while (at < bytes.length) {
    const end = stringEnd(bytes, at);
    let next = end;
    if (end - at === quoted.length && quoted.compare(bytes, at, end) === 0) {
      const colon = skipSpace(bytes, end);
      const value = skipSpace(bytes, colon + 1);
      const valueEnd = bytes[colon] === COLON ? contentEnd(bytes, value) : -1;
      if (valueEnd > value + 1) {
        yield [value + 1, valueEnd];
        next = valueEnd + 1;
      }
    }
    at = nextQuote(bytes, next);
  }
}

/** The offset of the closing quote or bracket of a value; -1 when the value must not be cut. */
function contentEnd(bytes: Buffer, value: number): number {
  if (bytes[value] === QUOTE) {
    const end = longStringEnd(bytes, value) - 1;
    return end < bytes.length && bytes[end] === QUOTE ? end : -1;
  }
  if (bytes[value] !== OPEN_BRACKET) return -1;
  // No number holds a quote: the search for the bracket ends at the next quote, so that no byte is
  // read for two values.
  const quote = bytes.indexOf(QUOTE, value);
  const length = bytes.subarray(value, quote < 0 ? bytes.length : quote).indexOf(CLOSE_BRACKET);
  const end = value + length;
  // A comma before the bracket is the only syntax error to look for: the skeleton replaces a cut
  // array by a valid one.
  return length > 0 && bytes[end - 1] !== COMMA && isNumeric(bytes, value + 1, end) ? end : -1;
}

/**
 * Whether a span is written like arrays of numbers. Reads four bytes at a time. A byte below 64
 * counts as a digit, a sign or white space. Brackets, braces and the letters of `null`, `NaN` and
 * `Infinity` are above.
 */
function isNumeric(bytes: Buffer, start: number, end: number): boolean {
  const aligned = start + (-(bytes.byteOffset + start) & 3);
  if (aligned + 4 > end) return areNumeric(bytes, start, end);
  const words = new Int32Array(bytes.buffer, bytes.byteOffset + aligned, (end - aligned) >> 2);
  if (!areNumeric(bytes, start, aligned)) return false;
  for (let index = 0; index < words.length; index++) {
    if (((words[index] as number) & LETTER_BITS) !== 0) {
      const at = aligned + index * 4;
      if (!areNumeric(bytes, at, at + 4)) return false;
    }
  }
  return areNumeric(bytes, aligned + words.length * 4, end);
}

function areNumeric(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (IS_NUMERIC[bytes[at] as number] !== 1) return false;
  return true;
}

/**
 * Only a few bytes stand between the values to cut: a call of `indexOf` would cost more than it
 * saves.
 */
function nextQuote(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length && bytes[at] !== QUOTE) at++;
  return at;
}

/** The offset after a string's closing quote. `from` is its opening quote. */
function stringEnd(bytes: Buffer, from: number): number {
  let at = from + 1;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return Math.min(at + 1, bytes.length);
}

/** The same for a string that may hold megabytes. */
function longStringEnd(bytes: Buffer, from: number): number {
  for (let at = from + 1; ;) {
    const quote = bytes.indexOf(QUOTE, at);
    if (quote < 0) return bytes.length + 1;
    let escapes = 0;
    while (bytes[quote - 1 - escapes] === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return quote + 1;
    at = quote + 1;
  }
}

function skipSpace(bytes: Buffer, from: number): number {
  let at = from;
  while (bytes[at] === 32 || bytes[at] === 10 || bytes[at] === 13 || bytes[at] === 9) at++;
  return at;
}
