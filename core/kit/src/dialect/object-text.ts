/** Tells when a JSON object that arrives in pieces is whole. */

import { isSpace, QUOTE } from "../json/scan.ts";
import { parseObject } from "./members.ts";

const BACKSLASH = 92;
const OPEN = 123;
const CLOSE = 125;

/**
 * A text that may become a JSON object. Each character is read once, and the text is parsed once at
 * most: when its first bracket is closed. Nothing is read before {@link isWhole} is asked for.
 */
export class ObjectText {
  /** What is read of the object. It is empty when the verdict is known. */
  #read = "";
  #unread = "";
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  /** `open`: its brackets are. `whole`: it is an object. `wrong`: nothing makes it one. */
  #state: "open" | "whole" | "wrong" = "open";

  add(piece: string): void {
    if (this.#state !== "wrong") this.#unread += piece;
  }

  /** Whether the text is a JSON object, with white space around it or none. */
  get isWhole(): boolean {
    if (this.#unread !== "") {
      const piece = this.#unread;
      this.#unread = "";
      this.#scan(piece);
    }
    return this.#state === "whole";
  }

  #scan(piece: string): void {
    const end = this.#state === "open" ? this.#objectEnd(piece) : 0;
    if (this.#state === "open") {
      this.#read += piece;
      return;
    }
    for (let at = end; at < piece.length && this.#state === "whole"; at++)
      if (!isSpace(piece.charCodeAt(at))) this.#state = "wrong";
  }

  /** Reads up to the end of the object, and sets the state there. Returns its offset. */
  #objectEnd(piece: string): number {
    for (let at = 0; at < piece.length; at++) {
      this.#step(piece.charCodeAt(at));
      if (this.#state === "open") continue;
      if (this.#state === "whole" && parseObject(this.#read + piece.slice(0, at + 1)) === undefined)
        this.#state = "wrong";
      this.#read = "";
      return at + 1;
    }
    return piece.length;
  }

  /** Reads one character. The object is taken for whole when its first bracket is closed. */
  #step(code: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (this.#isInString) {
      if (code === BACKSLASH) this.#isEscaped = true;
      else if (code === QUOTE) this.#isInString = false;
    } else if (code === OPEN) this.#depth++;
    else if (this.#depth === 0) {
      if (!isSpace(code)) this.#state = "wrong";
    } else if (code === QUOTE) this.#isInString = true;
    else if (code === CLOSE && --this.#depth === 0) this.#state = "whole";
  }
}
