/**
 * Parses a large JSON text in slices. One walk over the text finds the ends of values, and
 * `JSON.parse` gets pieces of about 64 KiB. A value smaller than a piece stays whole. See
 * core/decisions/2026-11-22-parsed-in-slices.md.
 */

import type { Member, ShapeFault, ShapeLimits } from "./members.ts";
import { isSpace, keyEndOf, passString, skipSpace } from "./sliced-text.ts";

/** Characters of a piece that is parsed in one call. */
const PIECE_CHARACTERS = 65_536;
/** Characters of a piece within a string. */
const STRING_CHARACTERS = 524_288;
/** Characters that are walked between two looks at the clock. */
const WALK_CHARACTERS = 65_536;
/** The approximate length of a slice, in milliseconds. */
const TURN_MS = 2;

const QUOTE = 34;
const COMMA = 44;
const OPEN_BRACKET = 91;
const CLOSE_BRACKET = 93;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

/** The parsed value of a text, or the fault of its shape. */
export interface Sliced {
  readonly value: unknown;
  /** The members of the outermost object, duplicates included. */
  readonly members: readonly Member[];
  readonly fault: ShapeFault | undefined;
}

/** A list or an object whose end is not reached yet. */
interface Open {
  readonly isObject: boolean;
  readonly start: number;
  /** The offset of the text that is not parsed yet. */
  from: number;
  /** The offset after the last comma of this level, or after the opening bracket. */
  itemStart: number;
  /** The parsed part; `undefined` while the text is one piece. */
  value: Record<string, unknown> | unknown[] | undefined;
  /** Set when a separately parsed value ends at `from`. */
  isBehindValue: boolean;
}

/**
 * The value of a text as `JSON.parse` returns it, and the offsets of `readMembers`. It yields where
 * other work may run. Throws a `SyntaxError`.
 */
export function* parseInSlices(text: string, limits: ShapeLimits): Generator<void, Sliced, undefined> {
  const parser = new SlicedParser(text, limits);
  while (parser.walk()) yield;
  return parser;
}

class SlicedParser implements Sliced {
  value: unknown;
  readonly members: Member[] = [];
  fault: ShapeFault | undefined;
  readonly #text: string;
  readonly #limits: ShapeLimits;
  readonly #open: Open[] = [];
  #at = 0;
  #nodes = 0;
  /** The opening quote of the string that the walk is in, or -1. */
  #string = -1;
  /** The closing quote of that string, where the string is known to hold no escape; -1 otherwise. */
  #plainEnd = -1;
  /** The parsed parts of the string, and the offset of the rest. */
  #parts: string[] = [];
  #partStart = 0;
  /** The first backslash after the walk's position. */
  #backslash = -1;

  constructor(text: string, limits: ShapeLimits) {
    this.#text = text;
    this.#limits = limits;
    this.#at = skipSpace(text, 0);
    const first = text.charCodeAt(this.#at);
    // A value that is neither an array nor an object is one piece.
    if (first !== OPEN_BRACE && first !== OPEN_BRACKET) {
      this.value = JSON.parse(text);
      this.#at = text.length;
    }
  }

  /** Walks one slice. Returns whether more remains. */
  walk(): boolean {
    const untilMs = performance.now() + TURN_MS;
    while (this.#at < this.#text.length && this.fault === undefined) {
      if (this.#string >= 0) this.#walkString(this.#at + WALK_CHARACTERS);
      else this.#walkValues(this.#at + WALK_CHARACTERS);
      if (performance.now() > untilMs) return true;
    }
    if (this.fault === undefined && (this.#open.length > 0 || this.#string >= 0)) throw new SyntaxError("The text ends early.");
    return false;
  }

  /** Walks to about `until`, or into a string that ends later. */
  #walkValues(until: number): void {
    const text = this.#text;
    while (this.#at < text.length && this.#at < until && this.#string < 0 && this.fault === undefined) {
      switch (text.charCodeAt(this.#at)) {
        case QUOTE:
          this.#beginString();
          continue;
        case OPEN_BRACE:
        case OPEN_BRACKET:
          this.#begin();
          break;
        case CLOSE_BRACE:
        case CLOSE_BRACKET:
          this.#end();
          break;
        case COMMA:
          this.#comma();
          break;
      }
      this.#at += 1;
    }
  }

  #beginString(): void {
    this.#string = this.#at;
    this.#partStart = this.#at + 1;
    this.#at += 1;
    const text = this.#text;
    const quote = text.indexOf('"', this.#at);
    if (this.#backslash < this.#at) {
      const next = text.indexOf("\\", this.#at);
      this.#backslash = next < 0 ? text.length : next;
    }
    // Without an escape, the next quote closes the string.
    const isPlain = quote >= 0 && quote < this.#backslash;
    this.#plainEnd = isPlain ? quote : -1;
    if (isPlain && quote - this.#at <= STRING_CHARACTERS) this.#endString(quote);
  }

  /** Looks for the end of a string, up to about `until`. */
  #walkString(until: number): void {
    const isPlain = this.#plainEnd >= 0;
    const at = isPlain ? Math.min(this.#at + STRING_CHARACTERS + 1, this.#plainEnd) : passString(this.#text, this.#at, until);
    if (this.#text.charCodeAt(at) === QUOTE) {
      this.#endString(at);
      return;
    }
    this.#at = at;
    if (at - this.#partStart > STRING_CHARACTERS && !this.#isName()) this.#part(at);
  }

  #endString(quote: number): void {
    const start = this.#string;
    const open = this.#open.at(-1);
    this.#at = quote + 1;
    // A string longer than a piece is parsed separately.
    if (open !== undefined && quote - start > PIECE_CHARACTERS && !this.#isName()) {
      this.#part(quote);
      this.#take(open, start, this.#parts.join(""));
      this.#parts = [];
    }
    this.#string = -1;
  }

  /** Whether the string that the walk is in is a member's name. */
  #isName(): boolean {
    const open = this.#open.at(-1);
    return open?.isObject === true && skipSpace(this.#text, open.itemStart) === this.#string;
  }

  #part(end: number): void {
    this.#parts.push(JSON.parse(`"${this.#text.slice(this.#partStart, end)}"`) as string);
    this.#partStart = end;
  }

  #begin(): void {
    if (this.#open.length >= this.#limits.maxDepth) this.fault = "depth";
    // An array or an object directly in the outermost one counts as its member.
    if (this.#open.length !== 1) this.#count();
    const isObject = this.#text.charCodeAt(this.#at) === OPEN_BRACE;
    const from = this.#at + 1;
    this.#open.push({ isObject, start: this.#at, from, itemStart: from, value: undefined, isBehindValue: false });
  }

  #comma(): void {
    const open = this.#open.at(-1);
    if (open === undefined) throw unexpected(this.#at);
    this.#count();
    if (this.#open.length === 1) this.#member(open);
    if (open.isBehindValue || this.#at - open.from > PIECE_CHARACTERS) this.#parse(open, this.#at);
    open.itemStart = this.#at + 1;
  }

  #end(): void {
    const open = this.#open.at(-1);
    const closing = open?.isObject === true ? CLOSE_BRACE : CLOSE_BRACKET;
    if (open === undefined || this.#text.charCodeAt(this.#at) !== closing) throw unexpected(this.#at);
    if (this.#open.length === 1) this.#member(open);
    const isLarge = this.#at - open.start > PIECE_CHARACTERS;
    if (open.value !== undefined) this.#parse(open, this.#at);
    else if (this.#open.length === 1 || isLarge) open.value = this.#piece(open, open.from, this.#at);
    this.#open.pop();
    if (open.value === undefined) return;
    const outer = this.#open.at(-1);
    if (outer !== undefined) {
      const end = this.#at;
      this.#at += 1;
      this.#take(outer, open.start, open.value);
      this.#at = end;
      return;
    }
    this.value = open.value;
    const next = skipSpace(this.#text, this.#at + 1);
    if (next < this.#text.length) throw unexpected(next);
    this.#at = this.#text.length;
  }

  /** Adds a separately parsed value, from `start` to here, after the values before it. */
  #take(open: Open, start: number, value: unknown): void {
    // Two values without a comma.
    if (open.isBehindValue) throw unexpected(start);
    if (open.itemStart > open.from) this.#parse(open, open.itemStart - 1);
    const before = this.#text.slice(open.itemStart, start);
    if (open.isObject) {
      const members = (open.value ??= {}) as Record<string, unknown>;
      const [name] = Object.keys(JSON.parse(`{${before}0}`) as object);
      if (name === undefined) throw unexpected(start);
      put(members, name, value);
    } else {
      const items = (open.value ??= []) as unknown[];
      if ((JSON.parse(`[${before}0]`) as unknown[])[0] !== 0) throw unexpected(start);
      items.push(value);
    }
    open.from = this.#at;
    open.isBehindValue = true;
  }

  /** Parses the rest of an open value before `end`: a comma of its level, or its end. */
  #parse(open: Open, end: number): void {
    if (open.isBehindValue) {
      if (skipSpace(this.#text, open.from) < end) throw unexpected(open.from);
    } else {
      const piece = this.#piece(open, open.from, end);
      if (Object.keys(piece).length === 0) throw unexpected(end);
      if (open.value === undefined) open.value = piece;
      else if (Array.isArray(piece)) for (const item of piece) (open.value as unknown[]).push(item);
      else for (const name of Object.keys(piece)) put(open.value as Record<string, unknown>, name, piece[name]);
    }
    open.from = end + 1;
    open.isBehindValue = false;
  }

  #piece(open: Open, from: number, end: number): Record<string, unknown> | unknown[] {
    const piece = this.#text.slice(from, end);
    return JSON.parse(open.isObject ? `{${piece}}` : `[${piece}]`) as Record<string, unknown> | unknown[];
  }

  /** Records a member of the outermost object, whose value ends here. */
  #member(open: Open): void {
    const text = this.#text;
    const start = skipSpace(text, open.itemStart);
    if (!open.isObject || text.charCodeAt(start) !== QUOTE) return;
    if (this.members.length >= (this.#limits.maxMembers ?? Infinity)) {
      this.fault ??= "members";
      return;
    }
    const keyEnd = keyEndOf(text, start, this.#at);
    let end = this.#at;
    while (end > keyEnd && isSpace(text.charCodeAt(end - 1))) end--;
    const key = text.slice(start + 1, keyEnd - 1);
    this.members.push({
      key: key.includes("\\") ? (JSON.parse(text.slice(start, keyEnd)) as string) : key,
      start,
      valueStart: skipSpace(text, skipSpace(text, keyEnd) + 1),
      end,
    });
  }

  #count(): void {
    this.#nodes += 1;
    if (this.#nodes > this.#limits.maxNodes) this.fault ??= "nodes";
  }
}

function put(into: Record<string, unknown>, name: string, value: unknown): void {
  // An assignment to this name would set the object's prototype.
  if (name === "__proto__") Object.defineProperty(into, name, { value, enumerable: true, configurable: true, writable: true });
  else into[name] = value;
}

function unexpected(at: number): SyntaxError {
  return new SyntaxError(`The text is not JSON at position ${at}.`);
}
