/** The answer for an edit that was made from other files than those that are there. */

import { DetailedError } from "../../detailed-error.ts";
import type { PresentFiles } from "./present-files.ts";

/** A refusal with the files as they are: the caller has the other two sides. */
export function conflictOf({ texts, digest }: PresentFiles): DetailedError {
  return new DetailedError(
    "config_conflict",
    "The files have changed since this edit was begun. Join both edits, and send the result with the digest of the files as they are now.",
    { digest, files: texts },
  );
}
