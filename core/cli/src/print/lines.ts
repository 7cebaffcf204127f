/** Line diffs of two configurations, file by file, as `patch` reads them. */

import { createTwoFilesPatch, OMIT_HEADERS } from "diff";

/** Contents of files by their names, as `GET /config/files` tells them. */
export type NamedTexts = Readonly<Record<string, string>>;

const CONTEXT_LINES = 3;
/** Files with next to nothing in common are reported as such; the comparison is bounded. */
const MAX_EDITS = 2_000;

/**
 * The differences of every file that differs, in the order of their names; empty for the same
 * contents.
 */
export function lineDiff(before: NamedTexts, after: NamedTexts): string {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted();
  return names
    .filter((name) => before[name] !== after[name])
    .map((name) => fileDiff(name, before[name], after[name]))
    .join("");
}

function fileDiff(name: string, before: string | undefined, after: string | undefined): string {
  const from = before === undefined ? "/dev/null" : `a/${name}`;
  const to = after === undefined ? "/dev/null" : `b/${name}`;
  const options = { context: CONTEXT_LINES, maxEditLength: MAX_EDITS, headerOptions: OMIT_HEADERS };
  const patch = createTwoFilesPatch(
    from,
    to,
    before ?? "",
    after ?? "",
    undefined,
    undefined,
    options,
  );
  const head = `--- ${from}\n+++ ${to}\n`;
  return patch === undefined ? `${head}@@ nearly every line differs @@\n` : `${head}${patch}`;
}
