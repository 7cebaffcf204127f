/**
 * Reads the input of a custom tool from the arguments of a function: `{"input": "…"}`, in pieces.
 * Every split of the same text gives the same input. Other text is the input itself: some models
 * leave out the object.
 */

import { Members } from "@sluice/kit/dialect";

const HEAD = /^\s*\{\s*"input"\s*:\s*"/;
/** A text that may still become the head. */
const MAYBE_HEAD = /^\s*(?:\{\s*(?:"(?:i(?:n(?:p(?:u(?:t(?:"\s*(?::\s*)?)?)?)?)?)?)?)?)?$/;
const ESCAPES: Readonly<Record<string, string>> = Members.table({
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
});

/** The reader of one call. */
export class CustomInput {
  /** `head`: undecided. `string`: within the text. `ended`: behind it. `other`: another form. */
  #state: "head" | "string" | "ended" | "other" = "head";
  /** The unread text: before the head, an escape that is not complete, or all of another form. */
  #rest = "";

  /** The input within a further piece. */
  add(piece: string): string {
    if (this.#state === "ended") return "";
    this.#rest += piece;
    if (this.#state === "head") this.#decide();
    return this.#state === "string" ? this.#read() : "";
  }

  /** The input that is left at the end. */
  end(): string {
    if (this.#state === "string" || this.#state === "ended") return "";
    const text = this.#rest;
    this.#rest = "";
    const input = Members.parse(text)?.input;
    return typeof input === "string" ? input : text;
  }

  #decide(): void {
    const head = HEAD.exec(this.#rest);
    if (head !== null) {
      this.#state = "string";
      this.#rest = this.#rest.slice(head[0].length);
    } else if (!MAYBE_HEAD.test(this.#rest)) this.#state = "other";
  }

  #read(): string {
    const text = this.#rest;
    let input = "";
    let at = 0;
    while (at < text.length) {
      const next = nextMark(text, at);
      input += text.slice(at, next);
      at = next;
      if (at === text.length) break;
      if (text[at] === '"') {
        this.#state = "ended";
        at = text.length;
        break;
      }
      const escape = readEscape(text, at);
      if (escape === undefined) break;
      input += escape.text;
      at = escape.end;
    }
    this.#rest = text.slice(at);
    return input;
  }
}

/** The place of the next quote or backslash. */
function nextMark(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22 || code === 0x5c) return at;
  }
  return text.length;
}

/** One escape, a surrogate pair as a whole; `undefined` while it is not complete. */
function readEscape(
  text: string,
  at: number,
): { readonly text: string; readonly end: number } | undefined {
  const mark = text[at + 1];
  if (mark === undefined) return undefined;
  if (mark !== "u") return { text: ESCAPES[mark] ?? mark, end: at + 2 };
  const unit = unitAt(text, at);
  if (unit === undefined) return text.length < at + 6 ? undefined : { text: mark, end: at + 2 };
  const isHigh = unit >= 0xd800 && unit <= 0xdbff;
  if (!isHigh) return { text: String.fromCharCode(unit), end: at + 6 };
  const isSplit = "\\u".startsWith(text.slice(at + 6, at + 8)) && text.length < at + 12;
  if (isSplit) return undefined;
  const low = text.startsWith("\\u", at + 6) ? unitAt(text, at + 6) : undefined;
  return low === undefined
    ? { text: String.fromCharCode(unit), end: at + 6 }
    : { text: String.fromCharCode(unit, low), end: at + 12 };
}

function unitAt(text: string, at: number): number | undefined {
  const digits = text.slice(at + 2, at + 6);
  return /^[0-9a-fA-F]{4}$/.test(digits) ? Number.parseInt(digits, 16) : undefined;
}
