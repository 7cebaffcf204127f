/** A text of a body, and its place. */

import type { TextPart } from "@sluice/contract";
import type { JsonPath } from "./at-path.ts";

/** A text of a body. */
export interface BodyText {
  readonly path: JsonPath;
  readonly part: TextPart;
  /** The text to check. */
  readonly text: string;
  /** Converts a checked text back to the body's form. Absent: the forms are equal. */
  readonly write?: (text: string) => string;
  /** The text can be refused, not edited: the names of a schema's members. */
  readonly isFixed?: boolean;
  /**
   * The text has no meaning of its own. Only guardrails that search for words and numbers check it.
   */
  readonly isBare?: boolean;
  /**
   * Texts that a model reads as one, in order. Only matches across their borders count here. `path`
   * is the first text's, `text` all of them joined.
   */
  readonly parts?: readonly BodyText[];
  /** The text between the parts. */
  readonly separator?: string;
}
