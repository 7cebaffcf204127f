/** The lists and objects whose end is not reached yet, and the parsed part of each. */

import type { PagedText } from "../paged-text.ts";
import { parseJson, type ParseText, putMember } from "../parse.ts";
import { CLOSE_BRACE, CLOSE_BRACKET, PIECE_CHARACTERS, skipSpace, unexpected } from "./text.ts";

type Container = Record<string, unknown> | unknown[];

/** A list or an object whose end is not reached yet. */
export interface OpenValue {
  readonly isObject: boolean;
  readonly isOutermost: boolean;
  readonly start: number;
  /** The offset of the text that is not parsed yet. */
  from: number;
  /** The offset after the last comma of this level, or after the opening bracket. */
  itemStart: number;
  /** Commas of this level so far. */
  commas: number;
  /** The parsed part; `undefined` while the text is one piece. */
  value: Container | undefined;
  /** Set when a separately parsed value ends at `from`. */
  isBehindValue: boolean;
}

/**
 * The open values of one text. A value smaller than a piece stays within the piece of the value
 * around it.
 */
export class OpenValues {
  readonly #text: PagedText;
  /** The innermost open value. */
  innermost: OpenValue | undefined;
  readonly #open: OpenValue[] = [];
  readonly #parseText: ParseText;

  constructor(text: PagedText, parse: ParseText) {
    this.#text = text;
    this.#parseText = parse;
  }

  get depth(): number {
    return this.#open.length;
  }

  begin(isObject: boolean, start: number): void {
    const from = start + 1;
    const isOutermost = this.#open.length === 0;
    this.innermost = {
      isObject,
      isOutermost,
      start,
      from,
      itemStart: from,
      commas: 0,
      value: undefined,
      isBehindValue: false,
    };
    this.#open.push(this.innermost);
  }

  /** Takes a comma of the innermost value. */
  comma(open: OpenValue, at: number): void {
    if (open.isBehindValue || at - open.from > PIECE_CHARACTERS) this.#parse(open, at);
    open.itemStart = at + 1;
  }

  /** Ends the innermost value at its closing bracket. Returns the outermost value at its end. */
  end(open: OpenValue, at: number): Container | undefined {
    const closing = open.isObject ? CLOSE_BRACE : CLOSE_BRACKET;
    if (this.#text.charCodeAt(at) !== closing) throw unexpected(at);
    const outer = this.#open.at(-2);
    const isLarge = at - open.start > PIECE_CHARACTERS;
    if (open.value !== undefined) this.#parse(open, at);
    else if (outer === undefined || isLarge) open.value = this.#piece(open, open.from, at);
    this.#open.pop();
    this.innermost = outer;
    if (outer === undefined || open.value === undefined) return open.value;
    this.take(outer, open.start, at + 1, open.value);
    return undefined;
  }

  /** Adds a separately parsed value, from `start` to `end`, after the values before it. */
  take(open: OpenValue, start: number, end: number, value: unknown): void {
    // Two values without a comma.
    if (open.isBehindValue) throw unexpected(start);
    if (open.itemStart > open.from) this.#parse(open, open.itemStart - 1);
    const before = this.#text.slice(open.itemStart, start);
    if (open.isObject) {
      const members = (open.value ??= {}) as Record<string, unknown>;
      const [name] = Object.keys(parseJson(`{${before}0}`) as object);
      if (name === undefined) throw unexpected(start);
      putMember(members, name, value);
    } else {
      const items = (open.value ??= []) as unknown[];
      if ((parseJson(`[${before}0]`) as unknown[])[0] !== 0) throw unexpected(start);
      items.push(value);
    }
    open.from = end;
    open.isBehindValue = true;
  }

  /** Parses the rest of an open value before `end`: a comma of its level, or its end. */
  #parse(open: OpenValue, end: number): void {
    if (open.isBehindValue) {
      if (skipSpace(this.#text, open.from) < end) throw unexpected(open.from);
    } else {
      const piece = this.#piece(open, open.from, end);
      if (Object.keys(piece).length === 0) throw unexpected(end);
      if (open.value === undefined) open.value = piece;
      else if (Array.isArray(piece)) for (const item of piece) (open.value as unknown[]).push(item);
      else
        for (const name of Object.keys(piece))
          putMember(open.value as Record<string, unknown>, name, piece[name]);
    }
    open.from = end + 1;
    open.isBehindValue = false;
  }

  #piece(open: OpenValue, from: number, end: number): Container {
    const piece = this.#text.slice(from, end);
    return this.#parseText(open.isObject ? `{${piece}}` : `[${piece}]`) as Container;
  }
}
