/** What is edited: the files as they were read, and the texts that were typed since. */

import type { Texts } from "../../api/config.ts";
import { createCell } from "../../app/cell.ts";

/** The state of the editor. It outlives the screen, and ends with the page. */
export interface Drafts {
  /** The files on disk when they were read. Absent: not read yet. */
  readonly base: Texts | undefined;
  /** Their digest, which a write names. */
  readonly digest: string | null;
  readonly typed: Texts;
}

/** The drafts. */
export const draftsCell = createCell<Drafts>({ base: undefined, digest: null, typed: {} });

/** Takes files as they were read. What was typed stays. */
export function takeFiles(base: Texts, digest: string | null): void {
  draftsCell.set({ ...draftsCell.value, base, digest });
}

/** Takes what was typed. A text that is that of the file again is no draft. */
export function typeText(file: string, text: string): void {
  const { base, typed, ...rest } = draftsCell.value;
  const { [file]: _before, ...others } = typed;
  const isDraft = base?.[file] !== text;
  draftsCell.set({ ...rest, base, typed: isDraft ? { ...others, [file]: text } : others });
}

/** Gives up what was typed: in one file, or in all. */
export function dropDrafts(file?: string): void {
  const { typed, ...rest } = draftsCell.value;
  if (file === undefined) draftsCell.set({ ...rest, typed: {} });
  else {
    const { [file]: _gone, ...others } = typed;
    draftsCell.set({ ...rest, typed: others });
  }
}

/** All files, with what was typed in them. */
export function textsOf({ base = {}, typed }: Drafts): Texts {
  return { ...base, ...typed };
}

addEventListener("beforeunload", (event) => {
  if (Object.keys(draftsCell.value.typed).length > 0) event.preventDefault();
});
