/** The rules and the points of each. */

/** Rules of the detection. */
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
 * Points by rule. Five block a text by default: one clear sign, or two signs of which a harmless
 * text may have one.
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

/** The description of each rule, for the reference. */
export const RULES: Readonly<Record<RuleName, string>> = {
  tags: "Letters of the Unicode tag block, or runs of variation selectors: text that is invisible to people and readable for a model.",
  bidi: "Characters that reverse the direction of writing, so that a person reads another text than the model.",
  invisible: "Runs of characters without a width, or many of them between letters.",
  markup: "Marks of chat templates, `<|im_start|>` or `[INST]`; two different ones count twice.",
  override: "Phrases that cancel earlier instructions, in seventeen languages.",
  extraction: "Phrases that ask for the system prompt.",
  role: "Phrases that ask for a model without rules.",
  turn: "Headings that imitate a message of the system.",
  encoded: "One of these phrases in base64, hexadecimal or rot13. It counts besides the phrase.",
};
