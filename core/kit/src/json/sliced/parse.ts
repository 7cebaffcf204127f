/**
 * Parses a large JSON text in slices. One walk over the text finds the ends of values, and
 * `JSON.parse` gets pieces of about 64 KiB. A value smaller than a piece stays whole. See
 * core/decisions/2026-11-22-parsed-in-slices.md.
 */

import type { Member, ShapeFault, ShapeLimits } from "../members.ts";
import { pagedText, type PagedText, pageStart } from "../paged-text.ts";
import { parseJson, type ParseText } from "../parse.ts";
import { Outline } from "./outline.ts";
import { SlicedString } from "./string.ts";
import { skipSpace, unexpected } from "./text.ts";
import { OpenValues } from "./values.ts";

// The walk compares every character with these. V8 folds constants of the same module, not imported
// ones.
const QUOTE = 34;
const COMMA = 44;
const OPEN_BRACKET = 91;
const CLOSE_BRACKET = 93;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

/** Characters that are walked between two looks at the clock. */
const WALK_CHARACTERS = 65_536;
/** The approximate length of a slice, in milliseconds. */
const TURN_MS = 2;

/** The parsed value of a text, or the fault of its shape. */
export interface Sliced {
  readonly value: unknown;
  /** The members of the outermost object, duplicates included. */
  readonly members: readonly Member[];
  /** The values of the text, counted by their separators; see `nodesOf`. */
  readonly nodes: number;
  readonly fault: ShapeFault | undefined;
}

/**
 * The value of a text as `JSON.parse` returns it, and the offsets of `readMembers`. It yields where
 * other work may run. Throws a `SyntaxError`. `parse` reads each piece.
 */
export function* parseInSlices(
  text: string | PagedText,
  limits: ShapeLimits,
  parse: ParseText = parseJson,
): Generator<void, Sliced, undefined> {
  const parser = new SlicedParser(typeof text === "string" ? pagedText(text) : text, limits, parse);
  while (parser.walk()) yield;
  return parser;
}

/** Walks a text and hands its strings, values and members to their owners. */
class SlicedParser implements Sliced {
  value: unknown;
  readonly #text: PagedText;
  readonly #string: SlicedString;
  readonly #values: OpenValues;
  readonly #outline: Outline;
  #at = 0;

  constructor(text: PagedText, limits: ShapeLimits, parse: ParseText) {
    this.#text = text;
    this.#string = new SlicedString(text);
    this.#values = new OpenValues(text, parse);
    this.#outline = new Outline(text, limits);
    this.#at = skipSpace(text, 0);
    if (!this.#outline.reach(this.#at)) return;
    const first = text.charCodeAt(this.#at);
    // A value that is neither an array nor an object is one piece.
    if (first !== OPEN_BRACE && first !== OPEN_BRACKET) {
      this.value = parse(text.slice(0, text.length));
      this.#at = text.length;
    }
  }

  get members(): readonly Member[] {
    return this.#outline.members;
  }

  get nodes(): number {
    return this.#outline.nodes;
  }

  get fault(): ShapeFault | undefined {
    return this.#outline.fault;
  }

  /** Walks one slice. Returns whether more remains. */
  walk(): boolean {
    const untilMs = performance.now() + TURN_MS;
    while (this.#at < this.#text.length && this.#outline.fault === undefined) {
      if (this.#string.isOpen) this.#walkString(this.#at + WALK_CHARACTERS);
      else this.#walkValues(this.#at + WALK_CHARACTERS);
      if (performance.now() > untilMs) return true;
    }
    if (this.#outline.fault === undefined && (this.#values.depth > 0 || this.#string.isOpen)) {
      throw new SyntaxError("The text ends early.");
    }
    return false;
  }

  /** Walks to about `until` or the end of a page, into a string that ends later, or to a fault. */
  #walkValues(until: number): void {
    let at = this.#at;
    const page = this.#text.pageOf(at);
    const start = pageStart(at);
    const end = Math.min(start + page.length, until);
    for (; at < end; at++) {
      switch (page.charCodeAt(at - start)) {
        case QUOTE:
          if (!this.#outline.reach(at)) return;
          this.#beginString(at);
          if (this.#string.isOpen) return;
          at = this.#at - 1;
          break;
        case OPEN_BRACE:
        case OPEN_BRACKET:
          if (!this.#begin(at)) return;
          break;
        case CLOSE_BRACE:
        case CLOSE_BRACKET:
          if (this.#end(at)) return;
          break;
        case COMMA:
          if (!this.#comma(at)) return;
          break;
      }
    }
    this.#at = at;
    this.#outline.reach(at);
  }

  #beginString(start: number): void {
    const quote = this.#string.begin(start);
    this.#at = start + 1;
    if (quote >= 0) this.#endString(quote);
  }

  /** Looks for the end of a string, up to about `until`. */
  #walkString(until: number): void {
    const at = this.#string.walk(this.#at, until);
    if (this.#text.charCodeAt(at) === QUOTE) {
      this.#endString(at);
      return;
    }
    this.#at = at;
    if (this.#string.hasPart(at) && !this.#isName()) this.#string.readPart(at);
  }

  #endString(quote: number): void {
    const open = this.#values.innermost;
    this.#at = quote + 1;
    this.#outline.pass(quote);
    if (open !== undefined && this.#string.isLong(quote) && !this.#isName()) {
      this.#values.take(open, this.#string.start, this.#at, this.#string.value(quote));
    }
    this.#string.end();
  }

  /** Whether the string that the walk is in is a member's name. */
  #isName(): boolean {
    const open = this.#values.innermost;
    return open?.isObject === true && skipSpace(this.#text, open.itemStart) === this.#string.start;
  }

  /** Returns false at a fault. */
  #begin(at: number): boolean {
    this.#outline.pass(at);
    this.#outline.begin(this.#values.depth);
    this.#values.begin(this.#text.charCodeAt(at) === OPEN_BRACE, at);
    return this.#outline.fault === undefined;
  }

  /** Returns false at a fault. */
  #comma(at: number): boolean {
    const open = this.#values.innermost;
    if (open === undefined) throw unexpected(at);
    if (!this.#outline.reach(at)) return false;
    this.#outline.pass(at);
    if (open.isOutermost) this.#outline.member(open, at);
    this.#values.comma(open, at);
    return this.#outline.countItem(open);
  }

  /** Returns true at the end of the outermost value, and at a fault. */
  #end(at: number): boolean {
    const open = this.#values.innermost;
    if (open === undefined) throw unexpected(at);
    if (!this.#outline.reach(at)) return true;
    this.#outline.pass(at);
    if (open.isOutermost) this.#outline.member(open, at);
    const value = this.#values.end(open, at);
    if (value === undefined) return false;
    this.value = value;
    const next = skipSpace(this.#text, at + 1);
    if (next < this.#text.length) throw unexpected(next);
    this.#at = this.#text.length;
    return true;
  }
}
