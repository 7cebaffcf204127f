/**
 * Guardrails: one `check` applied to whole bodies, to streams in windows, and to reversible masks.
 */

export { matchSpans } from "./document/spans.ts";
export { bodyTexts } from "./document/texts.ts";
export {
  type TextRule,
  type Treatment,
  findPlaces,
  patternRule,
  reachOf,
  verdictOf,
} from "./words/find.ts";
export { foldText } from "./words/fold.ts";
export { WordFinder } from "./words/word-finder.ts";
