/**
 * The text of large bytes in pages: it is decoded a page at a time, and no reader needs it in one
 * place. A text of 12 MB in one place takes 50 ms of one turn of the event loop, most of it for new
 * memory. See core/decisions/2026-11-28-large-replies.md.
 */

import { isAscii, isUtf8 } from "node:buffer";
import type * as Stages from "../stages.ts";
import { isHighSurrogate } from "../text-pieces.ts";
import { asBuffer } from "./as-buffer.ts";

/** Characters of a page are a power of two. V8 never copies texts of this size. */
const PAGE_BITS = 18;
export const PAGE_CHARACTERS = 2 ** PAGE_BITS;
const MARK = 0xfeff;
const MARK_BYTES = Buffer.from([0xef, 0xbb, 0xbf]);

/** What is read of a text, in pages or in one place. */
export interface ReadableText {
  readonly length: number;
  slice(from: number, to: number): string;
}

/** A text in pages of equal length; the last one may be shorter. Offsets are UTF-16 units. */
export class PagedText implements ReadableText {
  readonly length: number;
  readonly pages: readonly string[];
  /** The text itself, where it is in one place. */
  readonly #whole: string | undefined;

  constructor(pages: readonly string[], whole?: string) {
    this.pages = pages;
    this.#whole = whole;
    this.length = pages.reduce((sum, { length }) => sum + length, 0);
  }

  /** The code of a character; not a number behind the end. */
  charCodeAt(at: number): number {
    return this.pages[at >>> PAGE_BITS]?.charCodeAt(at & (PAGE_CHARACTERS - 1)) ?? NaN;
  }

  slice(from: number, to: number): string {
    if (this.#whole !== undefined) return this.#whole.slice(from, to);
    let text = "";
    for (let at = from; at < to;) {
      const end = Math.min(to, pageEnd(at));
      const part = this.pageOf(at).slice(at - pageStart(at), end - pageStart(at));
      text = text === "" ? part : text + part;
      at = end;
    }
    return text;
  }

  /** The first offset of a character in `from` to `end`, or -1. */
  indexWithin(character: string, from: number, end: number): number {
    for (let at = from; at < end;) {
      const start = pageStart(at);
      const to = Math.min(end, start + PAGE_CHARACTERS);
      const page = this.pageOf(at);
      const part = to - start < page.length ? page.slice(0, to - start) : page;
      const found = part.indexOf(character, at - start);
      if (found >= 0) return start + found;
      at = to;
    }
    return -1;
  }

  /** The text between two offsets in pieces of a page at most, each between two characters. */
  *pieces(from: number, to: number): Generator<string, void, undefined> {
    let half = "";
    for (let at = from; at < to;) {
      const end = Math.min(to, pageEnd(at));
      const cut = end < to && isHighSurrogate(this.charCodeAt(end - 1)) ? end - 1 : end;
      yield half + this.pageOf(at).slice(at - pageStart(at), cut - pageStart(at));
      half = cut === end ? "" : this.slice(cut, end);
      at = end;
    }
  }

  /** The page with an offset. */
  pageOf(at: number): string {
    return this.pages[at >>> PAGE_BITS] ?? "";
  }
}

/** The offset at which the page of another one begins. */
export function pageStart(at: number): number {
  return at - (at & (PAGE_CHARACTERS - 1));
}

/** The offset at which the next page begins. */
function pageEnd(at: number): number {
  return pageStart(at) + PAGE_CHARACTERS;
}

/** A text that is in one place already. */
export function pagedText(text: string): PagedText {
  return new PagedText([...cut(text)], text);
}

/**
 * The text of bytes, without a byte order mark. It yields between two pages. `undefined` for bytes
 * that are not UTF-8.
 */
export function* decodePages(bytes: Uint8Array): Stages.Of<PagedText | undefined> {
  const buffer = asBuffer(bytes);
  if (!isUtf8(buffer)) return undefined;
  yield;
  const isPlain = isAscii(buffer);
  const pages: string[] = [];
  // What does not fill a page yet.
  let rest = "";
  for (let at = 0; at < buffer.length;) {
    const end = isPlain
      ? Math.min(buffer.length, at + PAGE_CHARACTERS)
      : characterEnd(buffer, Math.min(buffer.length, at + PAGE_CHARACTERS));
    const text = buffer.toString(isPlain ? "latin1" : "utf8", at, end);
    const more = at === 0 && text.charCodeAt(0) === MARK ? text.slice(1) : text;
    at = end;
    rest = rest === "" ? more : rest + more;
    while (rest.length >= PAGE_CHARACTERS) {
      pages.push(rest.slice(0, PAGE_CHARACTERS));
      rest = rest.slice(PAGE_CHARACTERS);
    }
    yield;
  }
  if (rest !== "") pages.push(rest);
  return new PagedText(pages);
}

/** The bytes of a byte order mark before a text in UTF-8; 0 without one. */
export function markLength(bytes: Uint8Array): number {
  return MARK_BYTES.equals(bytes.subarray(0, MARK_BYTES.length)) ? MARK_BYTES.length : 0;
}

/** The last end of a character at or before an offset. */
function characterEnd(bytes: Buffer, offset: number): number {
  let at = offset;
  while (at < bytes.length && ((bytes[at] ?? 0) & 0xc0) === 0x80) at -= 1;
  return at;
}

function* cut(text: string): Generator<string, void, undefined> {
  for (let at = 0; at < text.length; at += PAGE_CHARACTERS)
    yield text.slice(at, at + PAGE_CHARACTERS);
}
