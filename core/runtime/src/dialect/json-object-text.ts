/**
 * Finds the JSON object in a text that arrives in pieces. A fence or text around it is left out.
 */

import { Members } from "@sluice/kit/dialect";

/**
 * The maximum characters kept for the final check; of a longer object, only the brackets are
 * checked.
 */
const MAX_KEPT_CHARACTERS = 8 * 1024 * 1024;

/** A text with one JSON object. */
export class JsonObjectText {
  #depth = 0;
  #isBegun = false;
  #isInString = false;
  #isEscaped = false;
  #kept: string[] = [];
  #characters = 0;

  /** The part of a piece that belongs to the object. */
  push(piece: string): string {
    if (this.#isEnded) return "";
    let from = 0;
    if (!this.#isBegun) {
      from = piece.indexOf("{");
      if (from < 0) return "";
      this.#isBegun = true;
    }
    const to = this.#scan(piece, from);
    const part = piece.slice(from, to);
    this.#characters += part.length;
    if (this.#characters > MAX_KEPT_CHARACTERS) this.#kept = [];
    else this.#kept.push(part);
    return part;
  }

  /** Whether the object is complete and valid JSON. */
  isObject(): boolean {
    if (!this.#isEnded) return false;
    return (
      this.#characters > MAX_KEPT_CHARACTERS || Members.parse(this.#kept.join("")) !== undefined
    );
  }

  get #isEnded(): boolean {
    return this.#isBegun && this.#depth === 0;
  }

  /**
   * Counts brackets from an offset. Returns the end of the object, or the length of the piece when
   * it continues.
   */
  #scan(piece: string, from: number): number {
    for (let at = from; at < piece.length; at++) {
      const character = piece[at];
      if (this.#isEscaped) this.#isEscaped = false;
      else if (this.#isInString) {
        if (character === "\\") this.#isEscaped = true;
        else if (character === '"') this.#isInString = false;
      } else if (character === '"') this.#isInString = true;
      else if (character === "{") this.#depth += 1;
      else if (character === "}" && --this.#depth === 0) return at + 1;
    }
    return piece.length;
  }
}
