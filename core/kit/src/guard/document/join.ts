/**
 * Joins texts that a model reads as one although they stand in several places. A match across them
 * is found, and edited in its places.
 */

import type { EditSpan, TextPart } from "@sluice/contract";
import type { BodyText } from "./body-text.ts";

/**
 * The separator of joined texts: none, or one that a model reads as a blank. A match may split a
 * word, or the words of a phrase.
 */
const SEPARATORS = ["", "\n"] as const;
/** Members that hold a conversation, one item a message. */
const CONVERSATIONS: ReadonlySet<unknown> = new Set([
  "messages",
  "contents",
  "input",
  "chat_history",
]);
const SPOKEN: readonly TextPart[] = ["system", "developer", "user", "assistant", "tool"];
const BLANK_BEFORE = /\s$/;
const BLANK_BEHIND = /^\s/;

/** Whether a text can be joined with others: its form in the body is the checked form. */
export function isJoinable({ write, isFixed, parts }: BodyText): boolean {
  return write === undefined && isFixed !== true && parts === undefined;
}

/**
 * The texts joined, without and with a blank between them. Texts with blanks at their borders are
 * joined once.
 */
export function joinedTexts(parts: readonly BodyText[]): BodyText[] {
  const [first] = parts;
  if (first === undefined) return [];
  const { path, part } = first;
  const isSpaced = parts.every(
    ({ text }, index) =>
      index === 0 || BLANK_BEFORE.test(parts[index - 1]?.text ?? "") || BLANK_BEHIND.test(text),
  );
  return SEPARATORS.slice(0, isSpaced ? 1 : 2).map((separator) => ({
    path,
    part,
    parts,
    separator,
    text: parts.map(({ text }) => text).join(separator),
  }));
}

/** All texts of a role, joined, where they stand in several messages. */
export function joinedMessages(texts: readonly BodyText[]): BodyText[] {
  return SPOKEN.flatMap((part) => {
    const said = texts.filter(
      (text) => text.part === part && CONVERSATIONS.has(text.path[0]) && isJoinable(text),
    );
    const messages = new Set(said.map(({ path }) => path[1]));
    return messages.size > 1 ? joinedTexts(said) : [];
  });
}

/** A joined text in its present form, and the mapping from its offsets to those of its parts. */
export class Joined {
  readonly text: string;
  readonly #parts: readonly BodyText[];
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];

  /** `now`: the present text of a part. */
  constructor(parts: readonly BodyText[], separator: string, now: (part: BodyText) => string) {
    this.#parts = parts;
    let text = "";
    for (const [index, part] of parts.entries()) {
      if (index > 0) text += separator;
      this.#starts.push(text.length);
      text += now(part);
      this.#ends.push(text.length);
    }
    this.text = text;
  }

  /** Whether a span covers characters of several parts. A match without a span counts. */
  crosses(start: number | undefined, end: number | undefined): boolean {
    if (start === undefined || end === undefined) return true;
    return this.#touched(start, end).length > 1;
  }

  /**
   * Splits a span into one for each part that it covers. The first of them gets the replacement.
   */
  spread<Span extends EditSpan>(span: Span): { readonly part: BodyText; readonly span: Span }[] {
    return this.#touched(span.start, span.end).map((index, place) => {
      const origin = this.#starts[index]!;
      const start = Math.max(span.start, origin) - origin;
      const end = Math.min(span.end, this.#ends[index]!) - origin;
      return {
        part: this.#parts[index]!,
        span: { ...span, start, end, replacement: place === 0 ? span.replacement : "" },
      };
    });
  }

  /** The parts that a span covers characters of, in order. */
  #touched(start: number, end: number): number[] {
    const touched: number[] = [];
    for (let index = this.#firstBehind(start); index < this.#starts.length; index++) {
      const from = this.#starts[index]!;
      if (from >= end) break;
      if (Math.max(start, from) < Math.min(end, this.#ends[index]!)) touched.push(index);
    }
    return touched;
  }

  /** The first part that ends behind an offset. */
  #firstBehind(offset: number): number {
    let low = 0;
    let high = this.#ends.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#ends[middle]! > offset) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
