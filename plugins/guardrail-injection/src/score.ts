/** The score of a text: what was found in it, each rule once, and what that adds up to. */

import { decodedTexts, rot13 } from "./decode.ts";
import { folded, latin, respelled } from "./fold.ts";
import { findHidden } from "./hidden.ts";
import { PHRASES } from "./phrases.ts";
import type { RuleName } from "./rules.ts";

/** Marks of the chat templates of common models. */
const MARKUP =
  /<[|｜][a-z_▁ ]{2,32}[|｜]>|\[\/?inst\]|<<\/?sys>>|<\/?(?:start|end)_of_turn>|<\/?(?:system|assistant|user)_(?:prompt|message)>|\[(?:system|assistant)\]\(#|(?:^|\n)\s{0,4}(?:human|assistant):(?=\s)/gi;

/** The matches, with the points of each rule. */
export interface Score {
  readonly points: number;
  readonly rules: ReadonlyMap<RuleName, number>;
}

/** Scores a text. */
export function scoreOf(text: string, scores: Readonly<Record<RuleName, number>>): Score {
  const rules = new Map<RuleName, number>();
  const add = (rule: RuleName, points = scores[rule]): void => {
    if (points > (rules.get(rule) ?? 0)) rules.set(rule, points);
  };
  const hidden = findHidden(text);
  for (const rule of hidden.rules) add(rule);
  const marks = new Set((text.match(MARKUP) ?? []).map((mark) => mark.trim().toLowerCase()));
  if (marks.size > 0) add("markup", scores.markup * Math.min(2, marks.size));
  const plain = folded(text);
  const read = latin(plain);
  for (const rule of phrasesIn(plain, read)) add(rule);
  const spelled = respelled(read);
  if (spelled !== undefined) for (const rule of phrasesIn("", spelled)) add(rule);
  const inside = [hidden.said, ...decodedTexts(text)].filter((said) => said !== "").map(folded);
  for (const said of inside.flatMap((one) => [...phrasesIn(one, latin(one))])) {
    add(said);
    add("encoded");
  }
  for (const rule of phrasesIn("", rot13(read))) {
    add(rule);
    add("encoded");
  }
  return { points: [...rules.values()].reduce((sum, points) => sum + points, 0), rules };
}

function phrasesIn(plain: string, read: string): Set<RuleName> {
  const found = new Set<RuleName>();
  for (const { rule, pattern, isOwnAlphabet } of PHRASES) {
    if (!found.has(rule) && pattern.test(isOwnAlphabet === true ? plain : read)) found.add(rule);
  }
  return found;
}
