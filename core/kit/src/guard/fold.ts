/**
 * Folding: a text as it looks, for comparing. Full width, ligatures, diacritics, look-alikes and case go; characters that nobody
 * sees are left out. Every place of the folded text leads back to the original. A fold looks at one character at a time, so that
 * a text in pieces folds as the whole does.
 */

import { HOMOGLYPHS } from "./homoglyphs.ts";

/** Invisible characters in a row that are left out; where more of them stand, every ninth counts as a break. */
const MAX_INVISIBLE_RUN = 8;
/** What a break looks like in a folded text: no letter, no digit, no blank. */
const BREAK = "\0";
/** Folded characters that are remembered. */
const MAX_REMEMBERED = 20_000;

/** Format characters (zero width, soft hyphen, direction, tags), marks and fillers. */
const INVISIBLE = /^[\p{Cf}\p{Mn}\p{Me}\u115f\u1160\u3164\uffa0]$/u;
const MARKS = /\p{M}/gu;
const NOT_ASCII = /[\u0080-\uffff]/;
/** Hangul syllables are letters of their own; taken apart, one would match a part of another. */
const HANGUL = /^[\uac00-\ud7a3]$/;

/** A folded text. */
export interface FoldedText {
  readonly text: string;
  /** Where a stretch of the folded text stands in the original: the start, and the end, exclusive. */
  start(index: number): number;
  end(index: number): number;
}

/** What folding may leave. */
export interface FoldOptions {
  /** Whether capitals become small letters. Default true. */
  readonly lowerCase?: boolean;
  /** Whether the text is JSON, as tool-call arguments are: `\n` is then a blank, and never a backslash and a letter. Default false. */
  readonly isJson?: boolean;
}

/** Folds a text. */
export function foldText(text: string, { lowerCase = true, isJson = false }: FoldOptions = {}): FoldedText {
  const hasEscapes = isJson && text.includes("\\");
  if (!hasEscapes && !NOT_ASCII.test(text)) {
    return { text: lowerCase ? text.toLowerCase() : text, start: (index) => index, end: (index) => index };
  }
  const remembered = lowerCase ? SMALL : CAPITAL;
  const starts: number[] = [];
  const ends: number[] = [];
  let folded = "";
  let run = 0;
  for (let at = 0; at < text.length;) {
    const code = text.codePointAt(at) ?? 0;
    let shown: string;
    let next = at + (code > 0xffff ? 2 : 1);
    if (hasEscapes && code === BACKSLASH) {
      run = 0;
      next = at + escapeLength(text, at);
      shown = next - at === 2 ? (ESCAPED[text.charAt(at + 1)] ?? text.charAt(at + 1)) : BREAK;
    } else {
      const character = code < 0x80 && !lowerCase ? text.charAt(at) : foldedCharacter(code, remembered, lowerCase);
      run = character === "" ? run + 1 : 0;
      shown = run > MAX_INVISIBLE_RUN ? BREAK : character;
      if (run > MAX_INVISIBLE_RUN) run = 0;
    }
    folded += shown;
    for (let unit = 0; unit < shown.length; unit++) {
      starts.push(at);
      ends.push(next);
    }
    at = next;
  }
  return {
    text: folded,
    start: (index) => starts[index] ?? text.length,
    // The last character of the stretch, not what follows it: what nobody sees behind a match is not part of it.
    end: (index) => ends[index - 1] ?? 0,
  };
}

const BACKSLASH = 0x5c;
const ESCAPED: Readonly<Record<string, string>> = { n: " ", t: " ", r: " ", b: " ", f: " " };
/** Backslashes in a row of which pairs are told; in a longer row one that is cut off would change all of them. */
const MAX_BACKSLASHES = 8;

/** How many characters an escape covers. A long row of backslashes is one with what follows it. */
function escapeLength(text: string, at: number): number {
  let end = at;
  while (text.charCodeAt(end) === BACKSLASH) end++;
  if (end - at > MAX_BACKSLASHES) return end + 1 - at;
  const length = text.charAt(at + 1) === "u" ? 6 : 2;
  return Math.min(length, text.length - at);
}

const SMALL = new Map<number, string>();
const CAPITAL = new Map<number, string>();

function foldedCharacter(code: number, remembered: Map<number, string>, lowerCase: boolean): string {
  let folded = remembered.get(code);
  if (folded === undefined) {
    folded = fold(String.fromCodePoint(code), lowerCase);
    if (remembered.size < MAX_REMEMBERED) remembered.set(code, folded);
  }
  return folded;
}

function fold(character: string, lowerCase: boolean): string {
  if (INVISIBLE.test(character)) return "";
  if (HANGUL.test(character)) return character;
  const plain = character.normalize("NFKD").replace(MARKS, "");
  // A mark that stands alone, as some vowels do, is still a character.
  if (plain === "") return character;
  return Array.from(plain, (one) => {
    const small = one.toLowerCase().replace(MARKS, "");
    const like = HOMOGLYPHS.get(small) ?? small;
    return lowerCase || small === one ? like : like.toUpperCase();
  }).join("");
}
