/** The string that the walk is in. A string longer than a piece is parsed separately, in parts. */

import { indexWithin, PIECE_CHARACTERS, passString } from "./text.ts";

/** Characters of a long string that are parsed at once. */
const PART_CHARACTERS = 524_288;

/** One string after the other. */
export class SlicedString {
  readonly #text: string;
  /** The opening quote, or -1 outside of a string. */
  #start = -1;
  /** The parsed parts, and the offset of the rest. */
  #parts: string[] | undefined;
  #partStart = 0;
  /** Before this offset no backslash follows the walk's position. */
  #plainUntil = 0;

  constructor(text: string) {
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
    const quote = indexWithin(this.#text, '"', from, from + PART_CHARACTERS + 1);
    return quote >= 0 && this.#isPlain(from, quote) ? quote : -1;
  }

  /** Walks up to about `until`. Returns the closing quote, or the offset that it reached. */
  walk(from: number, until: number): number {
    const end = Math.min(from + PART_CHARACTERS + 1, this.#text.length);
    if (!this.#isPlain(from, end)) return passString(this.#text, from, until);
    // Without an escape, the next quote closes the string.
    const quote = indexWithin(this.#text, '"', from, end);
    return quote < 0 ? end : quote;
  }

  /**
   * Whether no backslash stands between two offsets. The search is bounded: in two-byte text it can
   * be slow.
   */
  #isPlain(from: number, end: number): boolean {
    if (this.#plainUntil <= from) {
      const until = Math.min(this.#text.length, from + 2 * PART_CHARACTERS);
      const found = indexWithin(this.#text, "\\", from, until);
      this.#plainUntil = found < 0 ? until : found;
    }
    return end <= this.#plainUntil;
  }

  /** Whether the unparsed text before an offset is longer than a part. */
  hasPart(at: number): boolean {
    return at - this.#partStart > PART_CHARACTERS;
  }

  /** Parses the part that ends at an offset. */
  parsePart(end: number): void {
    const part = JSON.parse(`"${this.#text.slice(this.#partStart, end)}"`) as string;
    this.#parts ??= [];
    this.#parts.push(part);
    this.#partStart = end;
  }

  /** Whether the string that ends at a quote is longer than a piece. */
  isLong(quote: number): boolean {
    return quote - this.#start > PIECE_CHARACTERS;
  }

  /** The value of the string that ends at a quote. */
  value(quote: number): string {
    this.parsePart(quote);
    const value = this.#parts?.join("") ?? "";
    this.#parts = undefined;
    return value;
  }

  /** Ends the string. */
  end(): void {
    this.#start = -1;
  }
}
