/**
 * Finding things of bounded length in a text, so that the answer about a place depends on what stands around it and on nothing
 * else: every place is tried, also inside of an earlier match, and folding keeps tricks with characters out.
 */

import type { EditSpan, TextContext, Verdict } from "@sluice/spec";
import { type FoldedText } from "./fold.ts";

/** Characters beside a match that a rule may look at (one or two, with what nobody sees between them). */
const EDGE = 20;
/** Characters that nobody sees, within a match: one with more of them is none. */
const INVISIBLE_WITHIN = 32;

/** Something to find. */
export interface TextRule {
  /** The longest folded text that it matches. It may look at two more characters on each side. */
  readonly maxLength: number;
  /** Tells every match, in any order; matches may overlap. */
  find(folded: string, found: (start: number, end: number) => void): void;
}

/** What becomes of a match: it blocks for a reason, or something else stands in its place. */
export type Treatment =
  | { readonly kind: "block"; readonly reason: string }
  | { readonly kind: "edit"; replace(match: string): Pick<EditSpan, "replacement" | "restore"> };

/** A match in the original text. */
export interface Place {
  readonly start: number;
  readonly end: number;
  readonly treatment: Treatment;
  /** The match as it was folded. */
  readonly match: string;
}

/** The `reach` of a guardrail with these rules. */
export function reachOf(rules: readonly Pick<TextRule, "maxLength">[]): number {
  return Math.max(0, ...rules.map(({ maxLength }) => maxLength)) + INVISIBLE_WITHIN + EDGE;
}

/**
 * A rule of a pattern with the flag `g`. It is tried again one character after each match's beginning, so begin it with what
 * cannot stand inside of it. `accept` gives how many characters of a match count; 0 for none, `undefined` for all. `needs` is what
 * stands in every match: a text without it is not searched.
 */
export function patternRule(
  pattern: RegExp,
  maxLength: number,
  accept?: (match: string) => number | undefined,
  needs = "",
): TextRule {
  return {
    maxLength,
    find(folded, found) {
      if (!folded.includes(needs)) return;
      pattern.lastIndex = 0;
      for (let match = pattern.exec(folded); match !== null; match = pattern.exec(folded)) {
        const [text] = match;
        const length = Math.min(accept?.(text) ?? text.length, maxLength);
        if (length > 0) found(match.index, match.index + length);
        pattern.lastIndex = match.index + 1;
      }
    },
  };
}

/** The places of a rule. What begins at the edge of a window was judged when more of its surroundings could be seen, and is left out. */
export function findPlaces(
  folded: FoldedText,
  { rule, treatment, context }: { readonly rule: TextRule; readonly treatment: Treatment; readonly context: TextContext },
): Place[] {
  const places: Place[] = [];
  rule.find(folded.text, (from, to) => {
    const start = folded.start(from);
    const end = folded.end(to);
    if (context.offset > 0 && start < EDGE) return;
    if (end - start > rule.maxLength + INVISIBLE_WITHIN) return;
    places.push({ start, end, treatment, match: folded.text.slice(from, to) });
  });
  return places;
}

/** The verdict about these places: the first that blocks, and what is edited beside it. */
export function verdictOf(places: readonly Place[]): Verdict {
  if (places.length === 0) return ALLOW;
  const spans: EditSpan[] = [];
  let first: (Place & { readonly treatment: { readonly kind: "block" } }) | undefined;
  for (const place of places) {
    const { start, end, treatment, match } = place;
    if (treatment.kind === "edit") spans.push({ start, end, ...treatment.replace(match) });
    else if (first === undefined || start < first.start) first = { ...place, treatment };
  }
  if (first === undefined) return { kind: "edit", spans };
  return { kind: "block", reason: first.treatment.reason, start: first.start, end: first.end, spans };
}

const ALLOW: Verdict = Object.freeze({ kind: "allow" });
