/**
 * The string that the walk is in. A string longer than a piece is read separately, in parts. A part
 * without an escape is one of the text itself and not copied.
 */

import type { PagedText } from "../paged-text.ts";
import { PIECE_CHARACTERS, passString, unexpected } from "./text.ts";

/** Characters of a long string that are looked at at once. Parts with escapes are shorter. */
const PART_CHARACTERS = 524_288;
/** What a string must write as an escape. */
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\0-\x1f]/;

/** One string after the other. */
export class SlicedString {
  readonly #text: PagedText;
  /** The opening quote, or -1 outside of a string. */
  #start = -1;
  /** The parsed parts, and the offset of the rest. */
  #parts: string | undefined;
  #partStart = 0;
  /** Whether the part may have an escape, and whether a part before it may. */
  #mayEscape = false;
  #hasEscaped = false;
  /** The text is searched for a backslash up to an offset; the last one that was found. */
  #searchedUntil = 0;
  #backslash = -1;

  constructor(text: PagedText) {
    this.#text = text;
  }

  get isOpen(): boolean {
    return this.#start >= 0;
  }

  get start(): number {
    return this.#start;
  }

  /**
   * Begins at an opening quote. Returns the closing quote of a string without an escape that needs
   * no parts, else -1.
   */
  begin(start: number): number {
    const from = start + 1;
    this.#start = start;
    this.#partStart = from;
    this.#mayEscape = false;
    this.#hasEscaped = false;
    const quote = this.#text.indexWithin('"', from, this.#until(from));
    if (quote < 0) return -1;
    this.#mayEscape = !this.#isPlain(from, quote);
    return this.#mayEscape ? -1 : quote;
  }

  /** Walks up to about `until`. Returns the closing quote, or the offset that it reached. */
  walk(from: number, until: number): number {
    const end = this.#until(from);
    if (!this.#isPlain(from, end)) {
      this.#mayEscape = true;
      return passString(this.#text, from, until);
    }
    // Without an escape, the next quote closes the string.
    const quote = this.#text.indexWithin('"', from, end);
    return quote < 0 ? end : quote;
  }

  /**
   * Whether no backslash stands between two offsets. The search is bounded: in two-byte text it can
   * be slow.
   */
  #isPlain(from: number, end: number): boolean {
    if (this.#backslash < from && this.#searchedUntil < end) {
      const begin = Math.max(from, this.#searchedUntil);
      const until = Math.min(this.#text.length, begin + 2 * PART_CHARACTERS);
      this.#backslash = this.#text.indexWithin("\\", begin, until);
      this.#searchedUntil = this.#backslash < 0 ? until : this.#backslash;
    }
    return end <= this.#searchedUntil;
  }

  /** Whether the unread text before an offset is a part. */
  hasPart(at: number): boolean {
    return at - this.#partStart > (this.#mayEscape ? PIECE_CHARACTERS : PART_CHARACTERS);
  }

  /** Reads the part that ends at an offset. */
  readPart(end: number): void {
    const text = this.#text.slice(this.#partStart, end);
    if (!this.#mayEscape) this.#checkPlain(end);
    const part = this.#mayEscape ? (JSON.parse(`"${text}"`) as string) : text;
    this.#parts = this.#parts === undefined ? part : this.#parts + part;
    this.#partStart = end;
    this.#hasEscaped ||= this.#mayEscape;
    this.#mayEscape = false;
  }

  /** Throws where a part without an escape has a character that needs one. */
  #checkPlain(end: number): void {
    for (const piece of this.#text.pieces(this.#partStart, end))
      if (CONTROL.test(piece)) throw unexpected(this.#partStart);
  }

  /** The end of what is looked at from an offset. */
  #until(from: number): number {
    return Math.min(from + PART_CHARACTERS + 1, this.#text.length);
  }

  /** Whether the string that ends at a quote is longer than a piece. */
  isLong(quote: number): boolean {
    return quote - this.#start > PIECE_CHARACTERS;
  }

  /** The value of the string that ends at a quote. */
  value(quote: number): string {
    this.readPart(quote);
    const value = this.#hasEscaped ? this.#parts : this.#text.slice(this.#start + 1, quote);
    this.#parts = undefined;
    return value ?? "";
  }

  /** Ends the string. */
  end(): void {
    this.#start = -1;
  }
}
