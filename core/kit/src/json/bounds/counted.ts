/** What a JSON text costs its readers, counted without parsing it. */

import { randomInt } from "node:crypto";
import { QUOTE } from "../scan.ts";
import { CLOSE_BRACE, CLOSE_BRACKET, COMMA, OPEN_BRACE, OPEN_BRACKET } from "../sliced/text.ts";

const BACKSLASH = 92;
const COLON = 58;

/** How much of each a text may have. */
export interface TextBounds {
  readonly members: number;
  /**
   * Different names of members. V8 makes an object with a known order of names several times faster
   * than one with new names.
   */
  readonly names: number;
  /** Items of lists and members of objects, behind the first of each. */
  readonly values: number;
  readonly containers: number;
  readonly depth: number;
  /** Escapes in strings. */
  readonly escapes: number;
}

/** What of a bound each name is, in words. */
const WORDS: Readonly<Record<keyof TextBounds, string>> = {
  members: "members",
  names: "different names of members",
  values: "values",
  containers: "lists and objects",
  depth: "levels",
  escapes: "escapes",
};

/**
 * The first bound that texts exceed together, in words; `undefined` for none. It ends there. A text
 * that is not JSON has some answer.
 */
export function excessOf(texts: readonly string[], bounds: TextBounds): string | undefined {
  const counter = new TextCounter(bounds);
  for (const text of texts) {
    const found = counter.count(text);
    if (found !== undefined) return `more than ${bounds[found]} ${WORDS[found]}`;
  }
  return undefined;
}

/** Different names have different hashes. The base is random: no text aims at equal ones. */
const HASH_BASE = randomInt(2 ** 30) * 2 + 1;

class TextCounter {
  #text = "";
  readonly #bounds: TextBounds;
  /** Hashes of the names so far. */
  readonly #names = new Set<number>();
  #members = 0;
  /** The last string: a name, if a colon is behind it. */
  #stringStart = 0;
  #stringLimit = 0;
  #values = 0;
  #containers = 0;
  #depth = 0;
  #escapes = 0;
  /** The next backslash at or behind the last string. */
  #backslash = 0;

  constructor(bounds: TextBounds) {
    this.#bounds = bounds;
  }

  count(text: string): keyof TextBounds | undefined {
    this.#text = text;
    this.#depth = 0;
    this.#backslash = next(text, "\\", 0);
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) {
        this.#stringStart = at + 1;
        at = this.#stringEnd(at + 1);
        this.#stringLimit = at;
        if (this.#escapes > this.#bounds.escapes) return "escapes";
        continue;
      }
      const excess = this.#punctuation(code);
      if (excess !== undefined) return excess;
    }
    return undefined;
  }

  #punctuation(code: number): keyof TextBounds | undefined {
    const bounds = this.#bounds;
    switch (code) {
      case COLON:
        if (++this.#members > bounds.members) return "members";
        this.#names.add(this.#nameHash());
        return this.#names.size > bounds.names ? "names" : undefined;
      case COMMA:
        return ++this.#values > bounds.values ? "values" : undefined;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        if (++this.#depth > bounds.depth) return "depth";
        return ++this.#containers > bounds.containers ? "containers" : undefined;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        this.#depth--;
    }
    return undefined;
  }

  #nameHash(): number {
    let hash = 0;
    for (let at = this.#stringStart; at < this.#stringLimit; at++)
      hash = (Math.imul(hash, HASH_BASE) + this.#text.charCodeAt(at)) | 0;
    return hash;
  }

  /** The offset of a string's closing quote. `from` is behind its opening quote. */
  #stringEnd(from: number): number {
    const text = this.#text;
    const quote = next(text, '"', from);
    if (this.#backslash < from) this.#backslash = next(text, "\\", from);
    if (this.#backslash > quote) return quote;
    // A search for each of many escapes takes longer than a loop.
    for (let at = this.#backslash; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) return at;
      if (code !== BACKSLASH) continue;
      at++;
      if (++this.#escapes > this.#bounds.escapes) return at;
    }
    return text.length;
  }
}

/** The offset of a character; the length of the text where there is none. */
function next(text: string, character: string, from: number): number {
  const at = text.indexOf(character, from);
  return at < 0 ? text.length : at;
}
