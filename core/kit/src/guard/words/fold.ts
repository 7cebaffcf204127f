/**
 * Folds a text to its visible form, for comparison. Full width, ligatures, diacritics, look-alikes
 * and case are removed; invisible characters are left out. Every offset of the folded text maps to
 * the original. Folding reads one character at a time, so that a text in pieces folds like the
 * whole text.
 */

import { HOMOGLYPHS } from "./homoglyphs.ts";

/**
 * Maximum consecutive invisible characters that are left out; of a longer run, every ninth is a
 * break.
 */
const MAX_INVISIBLE_RUN = 8;
/** A break in a folded text: not a letter, a digit or a blank. */
const BREAK = "\0";
/** Maximum cached folded characters. */
const MAX_REMEMBERED = 20_000;

/** Format characters (zero width, soft hyphen, direction, tags), marks and fillers. */
const INVISIBLE = /^[\p{Cf}\p{Mn}\p{Me}\u115f\u1160\u3164\uffa0]$/u;
const MARKS = /\p{M}/gu;
const NOT_ASCII = /[\u0080-\uffff]/;
/** Hangul syllables are letters of their own: decomposed, one would match a part of another. */
const HANGUL = /^[\uac00-\ud7a3]$/;

/** A folded text. */
export interface FoldedText {
  readonly text: string;
  /** The span in the original of a span of the folded text: the start, and the end, exclusive. */
  start(index: number): number;
  end(index: number): number;
}

/** Options of folding. */
export interface FoldOptions {
  /** Whether capitals become lower case. Default true. */
  readonly lowerCase?: boolean;
  /**
   * Whether the text is JSON, such as tool-call arguments: `\n` is then a blank, not a backslash
   * and a letter. Default false.
   */
  readonly isJson?: boolean;
}

/** Folds a text to what a reader sees, with positions mapped to the original. */
export function foldText(
  text: string,
  { lowerCase = true, isJson = false }: FoldOptions = {},
): FoldedText {
  const hasEscapes = isJson && text.includes("\\");
  if (!hasEscapes && !NOT_ASCII.test(text)) {
    return {
      text: lowerCase ? text.toLowerCase() : text,
      start: (index) => index,
      end: (index) => index,
    };
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
      const character =
        code < 0x80 && !lowerCase ? text.charAt(at) : foldedCharacter(code, remembered, lowerCase);
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
    // The last character of the span, not the character after it: invisible characters after a
    // match are not part of it.
    end: (index) => ends[index - 1] ?? 0,
  };
}

const BACKSLASH = 0x5c;
const ESCAPED: Readonly<Record<string, string>> = { n: " ", t: " ", r: " ", b: " ", f: " " };
/**
 * Maximum consecutive backslashes that are read in pairs. In a longer run, a cut would change all
 * pairs.
 */
const MAX_BACKSLASHES = 8;

/**
 * The number of characters of an escape. A long run of backslashes and the next character count as
 * one.
 */
function escapeLength(text: string, at: number): number {
  let end = at;
  while (text.charCodeAt(end) === BACKSLASH) end++;
  if (end - at > MAX_BACKSLASHES) return end + 1 - at;
  const length = text.charAt(at + 1) === "u" ? 6 : 2;
  return Math.min(length, text.length - at);
}

const SMALL = new Map<number, string>();
const CAPITAL = new Map<number, string>();

function foldedCharacter(
  code: number,
  remembered: Map<number, string>,
  lowerCase: boolean,
): string {
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
