/**
 * Finds matches of bounded length in a text. The result for a place depends only on its
 * surroundings: every place is tried, also inside an earlier match, and the text is folded first.
 */

import type { EditSpan, TextContext, Verdict } from "@sluice/contract";
import { type FoldedText } from "./fold.ts";

/** Characters beside a match that a rule may read: one or two, with invisible ones between them. */
const EDGE = 20;
/** Maximum invisible characters within a match. */
const INVISIBLE_WITHIN = 32;

/** A rule that finds matches. */
export interface TextRule {
  /** The maximum length of a folded match. The rule may read two more characters on each side. */
  readonly maxLength: number;
  /** Reports every match, in any order; matches may overlap. */
  find(folded: string, found: (start: number, end: number) => void): void;
}

/** The action for a match: it blocks with a reason, or is replaced. */
export type Treatment =
  | { readonly kind: "block"; readonly reason: string }
  | { readonly kind: "edit"; replace(match: string): Pick<EditSpan, "replacement" | "restore"> };

/** A match in the original text. */
export interface Place {
  readonly start: number;
  readonly end: number;
  readonly treatment: Treatment;
  /** The folded text of the match. */
  readonly match: string;
}

/** The `reach` of a guardrail with these rules. */
export function reachOf(rules: readonly Pick<TextRule, "maxLength">[]): number {
  return Math.max(0, ...rules.map(({ maxLength }) => maxLength)) + INVISIBLE_WITHIN + EDGE;
}

/**
 * A rule for a pattern with the flag `g`. The search continues one character after the start of
 * each match, so begin the pattern with a character that cannot stand inside a match. `accept`
 * returns the number of counted characters of a match; 0 for none, `undefined` for all. `needs` is
 * a part of every match: a text without it is not searched.
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

/**
 * The places where a rule matches a text. A match at the edge of a window was checked when more of
 * its surroundings was visible, and is left out.
 */
export function findPlaces(
  folded: FoldedText,
  {
    rule,
    treatment,
    context,
  }: { readonly rule: TextRule; readonly treatment: Treatment; readonly context: TextContext },
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

/** The verdict on these places: the first blocking one, and the edits beside it. */
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
  return {
    kind: "block",
    reason: first.treatment.reason,
    start: first.start,
    end: first.end,
    spans,
  };
}

const ALLOW: Verdict = Object.freeze({ kind: "allow" });
