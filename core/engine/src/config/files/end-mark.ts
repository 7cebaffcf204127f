/**
 * The end mark: `end_of_config: true`, the last line of a file that must not be taken for whole
 * when its end is missing.
 */

import type { JsonSchema } from "@sluice/contract";

import type { ConfigDocument } from "./document.ts";
import type { Fault } from "../validate/explain.ts";

const END_MARK = "end_of_config";

/** The schema of the key, the same in every kind of file. */
export const endMarkSchema = {
  const: true,
  description:
    "Write it as the last line. Once a file has it, the gateway refuses an edit without it as truncated.",
} as const satisfies JsonSchema;

/** Whether a document has the mark. */
export function hasEndMark(document: ConfigDocument): boolean {
  return keysOf(document).includes(END_MARK);
}

/** The fault of a mark that something follows: what stands behind it could be cut off unnoticed. */
export function endMarkFaults(document: ConfigDocument): Fault[] {
  const keys = keysOf(document);
  if (!keys.includes(END_MARK) || keys.at(-1) === END_MARK) return [];
  const message = `\`${END_MARK}\` is not the last key: \`${keys.at(-1) ?? ""}\` follows it`;
  return [{ path: [END_MARK], on: "key", message, fix: "move it to the end of the file" }];
}

function keysOf({ value }: ConfigDocument): readonly string[] {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.keys(value)
    : [];
}
