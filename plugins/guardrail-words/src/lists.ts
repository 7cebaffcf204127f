/**
 * Lists as the configuration has them, made into rules: words in one pass, each pattern by a
 * matcher whose time is linear.
 */

import { foldText, type TextRule, WordFinder } from "@sluice/kit/guard";
import type { RE2JS } from "re2js";
import { compilePattern } from "./patterns.ts";
import { longestMatch } from "./pattern-length.ts";

/** The options of one list. */
export interface ListConfig {
  readonly name: string;
  readonly words: readonly string[];
  readonly patterns: readonly string[];
  readonly match: "word" | "substring";
  readonly action: "block" | "mask";
  readonly replacement: string;
}

/** Instructions that a pattern may become: its time is the text's length times this, at worst. */
const MAX_PROGRAM = 300;
/** Characters that one check spends on searching inside of matches. */
const MAX_SEARCHED = 500_000;

/** Characters that are searched at once. */
const BLOCK = 4_096;

const LETTER = /[\p{L}\p{N}_]/u;
const BLANK = /[^\S ]/g;

/**
 * The words of a list: one for each line of each entry; a line that begins with `#` is a remark.
 */
export function wordsOf(entries: readonly string[]): string[] {
  const lines = entries.flatMap((entry) => entry.split("\n")).map((line) => line.trim());
  return [...new Set(lines.filter((line) => line !== "" && !line.startsWith("#")))];
}

/** The fault of a pattern; `undefined` without one. */
export function patternFault(pattern: string): string | undefined {
  try {
    const compiled = compilePattern(pattern);
    if (compiled.test("")) return "it matches an empty text";
    return compiled.programSize() > MAX_PROGRAM
      ? "it is too large once its repetitions are written out"
      : undefined;
  } catch (error) {
    return error instanceof Error ? error.message : "it cannot be read";
  }
}

/** The rules of a list. Folded texts are searched: small letters, without what is disguise. */
export function listRules({ words, patterns, match }: ListConfig): TextRule[] {
  const rules = patterns.map(patternRuleOf);
  const list = wordsOf(words);
  if (list.length > 0) rules.push(wordRule(list, match === "word"));
  return rules;
}

function wordRule(words: readonly string[], isWhole: boolean): TextRule {
  const finder = new WordFinder(words.map((word) => plain(foldText(word).text)));
  return {
    maxLength: finder.maxLength,
    find(folded, found) {
      finder.find(plain(folded), (start, end) => {
        if (!isWhole || (isEdge(folded, start) && isEdge(folded, end))) found(start, end);
      });
    },
  };
}

/**
 * Whether a word begins or ends here: letters on one side alone. A word that begins with a sign
 * needs no edge there.
 */
function isEdge(text: string, at: number): boolean {
  return !LETTER.test(text.charAt(at - 1)) || !LETTER.test(text.charAt(at));
}

function plain(text: string): string {
  return text.search(BLANK) < 0 ? text : text.replace(BLANK, " ");
}

function patternRuleOf(pattern: string): TextRule {
  // Letters of the pattern fold as those of texts do; its syntax is ASCII and stays.
  const compiled = compilePattern(foldText(pattern, { lowerCase: false }).text);
  const maxLength = longestMatch(pattern);
  return {
    maxLength,
    find(folded, found) {
      // A test for any match is a hundred times faster than a search for its place.
      if (!compiled.test(folded)) return;
      if (Number.isFinite(maxLength)) findBounded(compiled, { folded, maxLength }, found);
      else findAll(compiled, folded, found);
    },
  };
}

/**
 * Consecutive matches. A pattern without a bound is never checked in a window, where an earlier
 * match could shift later ones.
 */
function findAll(
  compiled: RE2JS,
  folded: string,
  found: (start: number, end: number) => void,
): void {
  const matcher = compiled.matcher(folded);
  for (let from = 0; from <= folded.length && matcher.find(from);) {
    if (matcher.end() > matcher.start()) found(matcher.start(), matcher.end());
    from = Math.max(matcher.end(), matcher.start() + 1);
  }
}

/**
 * Matches from every place, block by block, so that only blocks that have one are searched for
 * where.
 */
function findBounded(
  compiled: RE2JS,
  { folded, maxLength }: { readonly folded: string; readonly maxLength: number },
  found: (start: number, end: number) => void,
): void {
  let searched = 0;
  for (let block = 0; block < folded.length; block += BLOCK) {
    // With the characters that edges look at, and the rest of a match that begins in the block.
    const origin = Math.max(0, block - 2);
    const text = folded.slice(origin, block + BLOCK + maxLength + 2);
    if (!compiled.test(text)) continue;
    const matcher = compiled.matcher(text);
    for (let from = block - origin; matcher.find(from);) {
      const start = matcher.start();
      const end = matcher.end();
      if (origin + start >= block + BLOCK) break;
      if (end > start) found(origin + start, origin + end);
      searched += maxLength;
      // A text made of matches is searched inside of them too, as long as that is affordable; then
      // from the end of each.
      from = searched < MAX_SEARCHED ? start + 1 : Math.max(end, start + 1);
      if (from > text.length) break;
    }
  }
}
