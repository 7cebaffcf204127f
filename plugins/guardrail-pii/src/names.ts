/** Names of the operator's list, whole words, however they are spelt. */

import { foldText, type TextRule, WordFinder } from "@sluice/kit/guard";

const WORD = /[\p{L}\p{N}_]/u;
const BLANK = /\s/g;

/** One name for every line of every entry; what follows `#` at the start of a line is a remark. */
export function namesOf(entries: readonly string[]): string[] {
  const lines = entries.flatMap((entry) => entry.split("\n")).map((line) => line.trim());
  return [...new Set(lines.filter((line) => line !== "" && !line.startsWith("#")))];
}

/** The rule that finds these names. */
export function nameRule(names: readonly string[]): TextRule {
  const finder = new WordFinder(names.map((name) => foldText(name).text.replace(BLANK, " ")));
  return {
    maxLength: finder.maxLength,
    find(folded, found) {
      finder.find(folded.toLowerCase().replace(BLANK, " "), (start, end) => {
        if (!WORD.test(folded.charAt(start - 1)) && !WORD.test(folded.charAt(end)))
          found(start, end);
      });
    },
  };
}
