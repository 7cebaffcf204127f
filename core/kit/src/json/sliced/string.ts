/** The string that the walk is in. A string longer than a piece is parsed separately, in parts. */

import { PIECE_CHARACTERS, passString } from "./text.ts";

/** Characters of a part of a string. */
const PART_CHARACTERS = 524_288;

/** One string after the other. */
export class SlicedString {
  readonly #text: string;
  /** The opening quote, or -1 outside of a string. */
  #start = -1;
  /** The closing quote, where the string is known to hold no escape; -1 otherwise. */
  #plainEnd = -1;
  /** The parsed parts, and the offset of the rest. */
  #parts: string[] | undefined;
  #partStart = 0;
  /** The first backslash after the walk's position. */
  #backslash = -1;

  constructor(text: string) {
    this.#text = text;
  }

  get isOpen(): boolean {
    return this.#start >= 0;
  }

  get start(): number {
    return this.#start;
  }

  /** Begins at an opening quote. Returns the closing quote of a string without an escape that needs no parts, else -1. */
  begin(start: number): number {
    const text = this.#text;
    const from = start + 1;
    this.#start = start;
    this.#partStart = from;
    const quote = text.indexOf('"', from);
    if (this.#backslash < from) {
      const next = text.indexOf("\\", from);
      this.#backslash = next < 0 ? text.length : next;
    }
    // Without an escape, the next quote closes the string.
    const isPlain = quote >= 0 && quote < this.#backslash;
    this.#plainEnd = isPlain ? quote : -1;
    return isPlain && quote - from <= PART_CHARACTERS ? quote : -1;
  }

  /** Walks from an offset up to about `until`. Returns the closing quote, or the offset that it reached. */
  walk(from: number, until: number): number {
    if (this.#plainEnd < 0) return passString(this.#text, from, until);
    return Math.min(from + PART_CHARACTERS + 1, this.#plainEnd);
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
