/** What is edited: the files as they were read, and the texts that were typed since. */

import { applyPatch, structuredPatch } from "diff";
import type { Texts } from "../../api/config.ts";
import { createCell } from "../../app/cell.ts";

/** Files as they are, with their digest. */
export interface FilesAt {
  readonly files: Texts;
  readonly digest: string;
}

/** The state of the editor. It outlives the screen, and ends with the page. */
export interface Drafts {
  /** The files on disk when the drafts were begun. Absent: not read yet. */
  readonly base: Texts | undefined;
  /** Their digest, which a write names. */
  readonly digest: string;
  readonly typed: Texts;
  /** The files as they are now, where another edit changed a file that is typed in here. */
  readonly theirs: FilesAt | undefined;
}

const NOTHING: Drafts = { base: undefined, digest: "", typed: {}, theirs: undefined };

/** The drafts. */
export const draftsCell = createCell<Drafts>(NOTHING);

/**
 * Takes files as they were read. What was typed stays: in a file that another edit has changed as
 * well, the operator decides.
 */
export function takeFiles(now: FilesAt): void {
  const { base = {}, ...before } = draftsCell.value;
  // What the file holds by now is no draft.
  const typed = Object.fromEntries(
    Object.entries(before.typed).filter(([file, text]) => now.files[file] !== text),
  );
  const isClash = Object.keys(typed).some((file) => now.files[file] !== base[file]);
  if (isClash) draftsCell.set({ ...before, base, typed, theirs: now });
  else draftsCell.set({ base: now.files, digest: now.digest, typed, theirs: undefined });
}

/** Takes what was typed. A text that is that of the file again is no draft. */
export function typeText(file: string, text: string): void {
  const { base, typed, ...rest } = draftsCell.value;
  const { [file]: _before, ...others } = typed;
  const isDraft = base?.[file] !== text;
  draftsCell.set({ ...rest, base, typed: isDraft ? { ...others, [file]: text } : others });
}

/** Gives up what was typed. */
export function dropDrafts(): void {
  const { base, digest, theirs } = draftsCell.value;
  draftsCell.set({
    base: theirs?.files ?? base,
    digest: theirs?.digest ?? digest,
    typed: {},
    theirs: undefined,
  });
}

/** The drafts are the files now. */
export function draftsAreWritten(digest: string): void {
  draftsCell.set({ base: textsOf(draftsCell.value), digest, typed: {}, theirs: undefined });
}

/** All files, with what was typed in them. */
export function textsOf({ base = {}, typed }: Drafts): Texts {
  return { ...base, ...typed };
}

/** A file that was changed here and elsewhere. */
export interface Clash {
  readonly file: string;
  readonly before: string;
  readonly theirs: string;
  readonly yours: string;
  /** Both edits in one text. Absent: they change the same lines. */
  readonly both: string | undefined;
}

/** The files that both changed. */
export function clashesOf({ base = {}, typed, theirs }: Drafts): readonly Clash[] {
  if (theirs === undefined) return [];
  return Object.entries(typed)
    .filter(([file]) => theirs.files[file] !== base[file])
    .map(([file, yours]) => {
      const before = base[file] ?? "";
      const their = theirs.files[file] ?? "";
      const patch = structuredPatch(file, file, before, yours, "", "", { context: 1 });
      const both = applyPatch(their, patch, { fuzzFactor: 0 });
      return { file, before, theirs: their, yours, both: both === false ? undefined : both };
    });
}

/** Ends the clash of one file: `text` is what it is to hold. */
export function settle(file: string, text: string): void {
  const { base = {}, typed, theirs, digest } = draftsCell.value;
  if (theirs === undefined) return;
  const { [file]: _before, ...others } = typed;
  const now = theirs.files[file];
  const settled = text === now ? others : { ...others, [file]: text };
  const moved: Drafts = {
    base: now === undefined ? base : { ...base, [file]: now },
    digest,
    typed: settled,
    theirs,
  };
  const isOver = clashesOf(moved).length === 0;
  draftsCell.set(
    isOver
      ? { base: theirs.files, digest: theirs.digest, typed: settled, theirs: undefined }
      : moved,
  );
}

addEventListener("beforeunload", (event) => {
  if (Object.keys(draftsCell.value.typed).length > 0) event.preventDefault();
});
