/** Texts that a model reads as one, although they stand in several places: what is split over them is found, and edited in its places. */

import type { EditSpan, TextPart } from "@sluice/spec";
import type { BodyText } from "./body-text.ts";

/** Between texts may stand nothing, or what a model takes for a blank: a word may be split, and words of a phrase. */
const SEPARATORS = ["", "\n"] as const;
/** Members that hold a conversation, item by item. */
const CONVERSATIONS: ReadonlySet<unknown> = new Set(["messages", "contents", "input", "chat_history"]);
const SPOKEN: readonly TextPart[] = ["system", "developer", "user", "assistant", "tool"];
const BLANK_BEFORE = /\s$/;
const BLANK_BEHIND = /^\s/;

/** Whether a text can be read with others: it stands there as it is. */
export function isJoinable({ write, isFixed, parts }: BodyText): boolean {
  return write === undefined && isFixed !== true && parts === undefined;
}

/** The texts as one, without and with a blank between them. With blanks there already, once. */
export function joinedTexts(parts: readonly BodyText[]): BodyText[] {
  const [first] = parts;
  if (first === undefined) return [];
  const { path, part } = first;
  const isSpaced = parts.every(
    ({ text }, index) => index === 0 || BLANK_BEFORE.test(parts[index - 1]?.text ?? "") || BLANK_BEHIND.test(text),
  );
  return SEPARATORS.slice(0, isSpaced ? 1 : 2).map((separator) => ({
    path,
    part,
    parts,
    separator,
    text: parts.map(({ text }) => text).join(separator),
  }));
}

/** All texts of a role as one, where they stand in several messages. */
export function joinedMessages(texts: readonly BodyText[]): BodyText[] {
  return SPOKEN.flatMap((part) => {
    const said = texts.filter((text) => text.part === part && CONVERSATIONS.has(text.path[0]) && isJoinable(text));
    const messages = new Set(said.map(({ path }) => path[1]));
    return messages.size > 1 ? joinedTexts(said) : [];
  });
}

/** A joined text as it is at the moment, and the way back from its places to those of its parts. */
export class Joined {
  readonly text: string;
  readonly #parts: readonly BodyText[];
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];

  /** `now`: what a part says at the moment. */
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

  /** Whether a stretch has characters of several parts. What has no place counts. */
  crosses(start: number | undefined, end: number | undefined): boolean {
    if (start === undefined || end === undefined) return true;
    return this.#touched(start, end).length > 1;
  }

  /** A span as one for each part that it covers: what stands instead stands in the first of them. */
  spread<Span extends EditSpan>(span: Span): { readonly part: BodyText; readonly span: Span }[] {
    return this.#touched(span.start, span.end).map((index, place) => {
      const origin = this.#starts[index]!;
      const start = Math.max(span.start, origin) - origin;
      const end = Math.min(span.end, this.#ends[index]!) - origin;
      return { part: this.#parts[index]!, span: { ...span, start, end, replacement: place === 0 ? span.replacement : "" } };
    });
  }

  #touched(start: number, end: number): number[] {
    const touched: number[] = [];
    for (const [index, from] of this.#starts.entries()) {
      if (Math.max(start, from) < Math.min(end, this.#ends[index]!)) touched.push(index);
    }
    return touched;
  }
}
