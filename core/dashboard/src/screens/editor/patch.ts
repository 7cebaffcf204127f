/** Files as a patch that `git apply` and `patch -p1` take. */

import { formatPatch, structuredPatch } from "diff";
import type { ConfigFiles, Texts } from "../../api/config.ts";

const CONTEXT = 3;

const STORED = "store:";

/** The differences of all files that changed, by the names that they have in a checkout. */
export function patchOf(before: Texts, after: Texts, source: ConfigFiles["source"]): string {
  const nameOf = source === "store" ? pulledNames(Object.keys(after)) : (name: string) => name;
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return names
    .filter((name) => before[name] !== after[name])
    .map((name) =>
      formatPatch(
        structuredPatch(
          before[name] === undefined ? "/dev/null" : `a/${nameOf(name)}`,
          after[name] === undefined ? "/dev/null" : `b/${nameOf(name)}`,
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

/** Names in the folder that `sluice pull` writes. */
function pulledNames(names: readonly string[]): (name: string) => string {
  const up = `${STORED}../`;
  // A file beside the folder of the gateway file needs that folder.
  const home = names.some((name) => name.startsWith(up)) ? "config/" : "";
  return (name) => (name.startsWith(up) ? name.slice(up.length) : home + name.replace(STORED, ""));
}
