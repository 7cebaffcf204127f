/** Files as a patch that `git apply` and `patch -p1` take. */

import { formatPatch, structuredPatch } from "diff";
import type { Texts } from "../../api/config.ts";

const CONTEXT = 3;

/** The differences of all files that changed. */
export function patchOf(before: Texts, after: Texts): string {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return names
    .filter((name) => before[name] !== after[name])
    .map((name) =>
      formatPatch(
        structuredPatch(
          before[name] === undefined ? "/dev/null" : `a/${name}`,
          after[name] === undefined ? "/dev/null" : `b/${name}`,
          before[name] ?? "",
          after[name] ?? "",
          undefined,
          undefined,
          { context: CONTEXT },
        ),
      ).replace(/^=+\n/, ""),
    )
    .join("");
}
