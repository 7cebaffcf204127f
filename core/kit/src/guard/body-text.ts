/** A text of a body, and where it stands. */

import type { TextPart } from "@sluice/spec";
import type { JsonPath } from "./at-path.ts";

/** A text of a body. */
export interface BodyText {
  readonly path: JsonPath;
  readonly part: TextPart;
  /** The text as it is to be judged. */
  readonly text: string;
  /** Turns a judged text back into what stands in the body. Absent: it stands there as it is. */
  readonly write?: (text: string) => string;
  /** It can be refused, not edited: the names of a schema's members. */
  readonly isFixed?: boolean;
  /** It says nothing by itself, and is for those who look for words and numbers. */
  readonly isBare?: boolean;
  /** Texts that are read as one, in order: only what goes over their borders counts here. `path` is the first one's, `text` all of them. */
  readonly parts?: readonly BodyText[];
  /** What stands between the parts. */
  readonly separator?: string;
}
