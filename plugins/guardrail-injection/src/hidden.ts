/** Characters that a person does not see. */

import type { RuleName } from "./rules.ts";

/**
 * Tag characters. A flag of a region is one of few decent uses: a black flag, tags, a closing tag.
 */
const TAGS = /[\u{e0001}\u{e0020}-\u{e007e}]{1,4096}/gu;
const REGION_FLAG = /\u{1f3f4}[\u{e0061}-\u{e007a}\u{e0030}-\u{e0039}]{2,6}\u{e007f}/gu;
/** Several variation selectors after each other carry bytes; one chooses a glyph. */
const SELECTORS = /[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]{4}/u;
const OVERRIDES = /[\u202d\u202e]/;
const INVISIBLE_RUN = /[\u200b-\u200f\u2060-\u2064\ufeff\u00ad\u180e]{3}/;
/** Between letters of one word they have no business, in Latin writing. */
const INVISIBLE_INSIDE = /[a-z][\u200b\u200c\u2060\ufeff\u00ad][a-z]/gi;
const MANY_INSIDE = 6;
const INVISIBLE =
  /[\ufe00-\ufe0f]|[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\u00ad\u180e]|[\u{e0000}-\u{e01ef}]/gu;

/** The hidden content of a text. */
export interface Hidden {
  readonly rules: readonly RuleName[];
  /** The decoded text of the tag characters. */
  readonly said: string;
}

/** Looks for hidden characters. */
export function findHidden(text: string): Hidden {
  const rules: RuleName[] = [];
  let said = "";
  for (const [run] of text.replace(REGION_FLAG, "").matchAll(TAGS)) said += plain(run);
  if (said !== "" || SELECTORS.test(text)) rules.push("tags");
  if (OVERRIDES.test(text)) rules.push("bidi");
  if (INVISIBLE_RUN.test(text) || (text.match(INVISIBLE_INSIDE)?.length ?? 0) >= MANY_INSIDE)
    rules.push("invisible");
  return { rules, said };
}

/** The text without what cannot be seen. */
export function withoutHidden(text: string): string {
  return text.replace(INVISIBLE, "");
}

function plain(tags: string): string {
  return [...tags].map((tag) => String.fromCharCode((tag.codePointAt(0) ?? 0) & 0x7f)).join("");
}
