/** The rules and what each of them counts. */

/** The rules that a text is searched for. */
export type RuleName =
  | "tags"
  | "bidi"
  | "invisible"
  | "markup"
  | "override"
  | "extraction"
  | "role"
  | "turn"
  | "encoded";

/**
 * Points by rule. Five are enough by default: one clear sign, or two that a decent text may have
 * one of.
 */
export const DEFAULT_SCORES: Readonly<Record<RuleName, number>> = {
  tags: 5,
  bidi: 3,
  invisible: 3,
  markup: 3,
  override: 5,
  extraction: 4,
  role: 3,
  turn: 2,
  encoded: 2,
};

/** Of each rule, in words for the reference. */
export const RULES: Readonly<Record<RuleName, string>> = {
  tags: "Letters of the Unicode tag block, or runs of variation selectors: text that is invisible to people and readable for a model.",
  bidi: "Characters that turn the direction of writing around, so that a person reads something else.",
  invisible: "Runs of characters without a width, or many of them between letters.",
  markup: "Marks of chat templates, `<|im_start|>` or `[INST]`; two different ones count twice.",
  override: "Phrases that set instructions aside, in seventeen languages.",
  extraction: "Phrases that ask for the system prompt.",
  role: "Phrases that ask for a model without rules.",
  turn: "Headings that pretend to be a message of the system.",
  encoded: "One of these phrases in base64, hexadecimal or rot13. It counts besides the phrase.",
};
