/**
 * @sluice/guardrail-words: words and patterns that must not pass, whatever their letters are
 * disguised as.
 */

import { defineGuardrail } from "@sluice/kit";
import {
  findPlaces,
  foldText,
  reachOf,
  type TextRule,
  type Treatment,
  verdictOf,
} from "@sluice/kit/guard";
import type { ConfigFault } from "@sluice/contract";
import { type ListConfig, listRules, patternFault, wordsOf } from "./lists.ts";

interface WordsConfig {
  readonly lists: readonly ListConfig[];
  readonly sample?: string;
}

/** Without quotes, backslashes and line breaks: it may come to stand inside a JSON string. */
const PLAIN = String.raw`^[^"\\\x00-\x1f]*$`;

export default defineGuardrail<WordsConfig>({
  name: "words",
  stability: "beta",
  summary:
    "Lists of words and patterns, found through zero-width, look-alike, full-width, case and diacritics tricks.",
  config: {
    type: "object",
    required: ["lists"],
    properties: {
      lists: {
        type: "array",
        minItems: 1,
        maxItems: 100,
        description:
          "The lists. Each has a name, words or patterns or both, and an action of its own.",
        items: {
          type: "object",
          required: ["name"],
          additionalProperties: false,
          description: "One list.",
          properties: {
            name: {
              type: "string",
              pattern: "^[A-Za-z0-9][\\w.:/-]{0,63}$",
              description: "The name of the list in logs and rows. Example: `competitors`.",
            },
            words: {
              type: "array",
              items: {
                type: "string",
                minLength: 1,
                maxLength: 5_000_000,
                description: "A word or phrase, or one for each line.",
              },
              default: [],
              description:
                "Words and phrases of at most 200 characters. An entry may be a file with one on each line; lines that begin with `#` are remarks. " +
                'Example: `[Acme, "${file:competitors.txt}"]`.',
            },
            patterns: {
              type: "array",
              maxItems: 100,
              items: { type: "string", minLength: 1, maxLength: 500, description: "A pattern." },
              default: [],
              description:
                "Patterns in RE2's syntax, of at most 500 characters; case is ignored. Bound every repetition, `{1,20}` for `+`: otherwise the " +
                'guardrail cannot judge streams in windows. Example: `["project-[a-z]{3,20}"]`.',
            },
            match: {
              type: "string",
              enum: ["word", "substring"],
              default: "word",
              description:
                "Whether words match only between other characters than letters and digits, or also inside other words. Patterns use `\\b` for this.",
            },
            action: {
              type: "string",
              enum: ["block", "mask"],
              default: "block",
              description:
                "Whether the request is refused, or `replacement` stands where the word was.",
            },
            replacement: {
              type: "string",
              maxLength: 64,
              pattern: PLAIN,
              default: "[REMOVED]",
              description: 'What stands in the place of a word. Example: `"***"`.',
            },
          },
        },
      },
      sample: {
        type: "string",
        minLength: 1,
        maxLength: 1_000,
        description:
          "A text that the lists must not let pass, for the test at every load. Needed when there are patterns and no words. Example: `project-alpha`.",
      },
    },
  },
  check: faultsOf,
  sample: ({ sample, lists }) =>
    sample ?? `x ${lists.flatMap(({ words }) => wordsOf(words))[0] ?? ""} y`,
  create({ lists }) {
    const looking = lists.flatMap((list) => {
      const treatment: Treatment =
        list.action === "block"
          ? { kind: "block", reason: list.name }
          : { kind: "edit", replace: () => ({ replacement: list.replacement }) };
      return listRules(list).map(
        (rule): { readonly rule: TextRule; readonly treatment: Treatment } => ({ rule, treatment }),
      );
    });
    return {
      reach: reachOf(looking.map(({ rule }) => rule)),
      check(text, _signal, context) {
        const folded = foldText(text, { isJson: context.part === "arguments" });
        return verdictOf(
          looking.flatMap(({ rule, treatment }) =>
            findPlaces(folded, { rule, treatment, context }),
          ),
        );
      },
    };
  },
});

const MAX_WORD = 200;

function faultsOf({ lists, sample }: WordsConfig): ConfigFault[] {
  const faults = lists.flatMap(({ words, patterns }, at): ConfigFault[] => {
    const list = wordsOf(words);
    if (list.length === 0 && patterns.length === 0) {
      return [
        {
          path: ["lists", at],
          message: "The list is empty.",
          fix: "Give it words or patterns, or take it out.",
        },
      ];
    }
    const long = list.filter(
      (word) => word.length > MAX_WORD || foldText(word).text.trim() === "",
    ).length;
    const wrongWords: ConfigFault[] =
      long === 0
        ? []
        : [
            {
              path: ["lists", at, "words"],
              message: `${long} of its words are longer than ${MAX_WORD} characters, or invisible.`,
              fix: "Shorten them, or take them out.",
            },
          ];
    const wrongPatterns = patterns.flatMap((pattern, index): ConfigFault[] => {
      const fault = patternFault(pattern);
      return fault === undefined
        ? []
        : [
            {
              path: ["lists", at, "patterns", index],
              message: `The pattern is not usable: ${fault}.`,
              fix: "Write it in RE2's syntax, smaller where it is too large.",
            },
          ];
    });
    return [...wrongWords, ...wrongPatterns];
  });
  if (
    faults.length > 0 ||
    sample !== undefined ||
    lists.some(({ words }) => wordsOf(words).length > 0)
  )
    return faults;
  return [
    {
      path: ["lists"],
      message: "The lists have patterns alone, and none can be tested.",
      fix: "Add `sample:` with a text that must not pass.",
    },
  ];
}
