/** The notes of earlier versions, which kept them in a file of their own. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { SpendRow } from "@sluice/contract";
import { parseJson } from "@sluice/kit";
import type { LogPlace } from "./log.ts";
import { rowOfNote } from "./note-text.ts";

/** The path of the file: `calls.log` beside `outbox.db`. */
export function oldNotesPath({ directory, name }: LogPlace): string {
  return join(directory, name.replace(/^outbox/, "calls").replace(/\.db$/, ".log"));
}

/** The rows of an earlier version's notes. A line that was cut is left out. */
export function readOldNotes(place: LogPlace): readonly SpendRow[] {
  let text: string;
  try {
    text = readFileSync(oldNotesPath(place), "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
  return text.split("\n").flatMap((line) => {
    try {
      return rowOfNote(parseJson(line)) ?? [];
    } catch {
      return [];
    }
  });
}
