/**
 * Finds the objects of a JSON text in pieces, each as soon as it is complete: one object, several
 * consecutive ones (NDJSON), or those of a list. The kept part of an object is bounded: the
 * beginning of a long text, the first items of a long list of numbers. So the usage of a large
 * reply can be read too.
 */

import { KeptObject } from "./kept-object.ts";

/** Maximum kept bytes of one text. */
const MAX_TEXT_BYTES = 65_536;
/** Maximum kept numbers of one list. */
const MAX_NUMBERS = 64;
/** Maximum nesting: a deeper object is skipped. */
const MAX_DEPTH = 256;

/** The last bytes of a text that decide whether it is prose. */
const PROSE_BYTES = 1_024;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COMMA = 0x2c;
const LOWER_U = 0x75;

/** Takes bytes, and passes on each object's text. */
export class JsonValues {
  readonly #onObject: (text: string) => void;
  readonly #object = new KeptObject();
  /** The open lists and objects, outermost first: true for a list. */
  readonly #open: boolean[] = [];
  #isInText = false;
  #textBytes = 0;
  /** Remaining bytes of an escape. */
  #escaped = 0;
  #isEscape = false;
  /** Consecutive scalars in the open list. */
  #scalars = 0;
  #isSkipping = false;
  /** Whether the cut text is prose and not a file in base64. */
  #isProse = false;
  #cutBytes = 0;

  constructor(onObject: (text: string) => void) {
    this.#onObject = onObject;
  }

  /** Bytes of texts that were not kept, without those of files. */
  get cutBytes(): number {
    return this.#cutBytes;
  }

  push(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at] as number;
      if (this.#isInText) this.#text(byte);
      else this.#structure(byte);
    }
  }

  /** Drops an incomplete object. */
  reset(): void {
    this.#object.clear();
    this.#open.length = 0;
    this.#isInText = false;
    this.#isEscape = false;
    this.#escaped = 0;
    this.#isSkipping = false;
  }

  #text(byte: number): void {
    this.#textBytes++;
    if (this.#isEscape) {
      this.#isEscape = false;
      if (this.#isSkipping) return;
      this.#escaped = byte === LOWER_U ? 4 : 0;
      this.#object.keep(byte);
      return;
    }
    if (byte === QUOTE) {
      this.#isInText = false;
      this.#object.keep(byte);
      return;
    }
    // A text is cut at the start of a character, outside an escape.
    const isStart = this.#escaped === 0 && (byte < 0x80 || byte >= 0xc0);
    if (this.#textBytes > MAX_TEXT_BYTES && (isStart || this.#isSkipping)) {
      if (!this.#isSkipping) this.#isProse = this.#object.hasSpace(PROSE_BYTES);
      this.#isSkipping = true;
      if (this.#isProse) this.#cutBytes++;
      // The escape of a quote must not end the text.
      this.#isEscape = byte === BACKSLASH;
      return;
    }
    if (this.#escaped > 0) this.#escaped--;
    if (byte === BACKSLASH) this.#isEscape = true;
    this.#object.keep(byte);
  }

  #structure(byte: number): void {
    const depth = this.#open.length;
    if (depth === 0) {
      if (byte === OPEN_BRACE) this.#begin(byte);
      // An outermost list is not part of an object: its own objects are passed on.
      else if (byte === OPEN_BRACKET) this.#open.push(true);
      return;
    }
    if (depth === 1 && this.#open[0] === true) {
      if (byte === OPEN_BRACE || byte === OPEN_BRACKET) this.#begin(byte);
      else if (byte === CLOSE_BRACKET) this.#open.length = 0;
      else if (byte === QUOTE) this.#beginText();
      return;
    }
    switch (byte) {
      case QUOTE:
        this.#beginText();
        return;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        this.#restoreComma();
        this.#descend(byte === OPEN_BRACKET);
        this.#object.keep(byte);
        return;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        this.#scalars = 0;
        this.#open.pop();
        this.#object.keep(byte);
        if (this.#isOutside()) this.#finish();
        return;
      case COMMA:
        if (this.#open[depth - 1] === true) this.#scalars++;
        break;
      default:
    }
    // Of a long list of numbers, the first ones are kept; the rest is dropped with its commas.
    if (this.#scalars < MAX_NUMBERS) this.#object.keep(byte);
  }

  #isOutside(): boolean {
    return this.#open.length === 0 || (this.#open.length === 1 && this.#open[0] === true);
  }

  #begin(byte: number): void {
    this.#object.clear();
    this.#scalars = 0;
    this.#open.push(byte === OPEN_BRACKET);
    this.#object.keep(byte);
  }

  #beginText(): void {
    this.#restoreComma();
    this.#isInText = true;
    this.#escaped = 0;
    this.#isSkipping = false;
    this.#textBytes = 0;
    this.#object.keep(QUOTE);
  }

  /** Restores the comma after a shortened list of numbers. */
  #restoreComma(): void {
    if (this.#scalars >= MAX_NUMBERS) this.#object.keep(COMMA);
    this.#scalars = 0;
  }

  #descend(isList: boolean): void {
    if (this.#open.length >= MAX_DEPTH) this.#object.skip();
    this.#open.push(isList);
  }

  #finish(): void {
    const text = this.#object.text();
    if (text !== undefined) this.#onObject(text);
    this.#object.clear();
  }
}
