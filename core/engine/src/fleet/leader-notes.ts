/** What a leader writes into its lease: when each job ran, and how it ended. */

import { parseJson } from "@sluice/kit";

/** The last run of a job. */
export interface JobNote {
  /** When it began, milliseconds since 1970. */
  readonly atMs: number;
  /** What it did; `null`: there was nothing to do. */
  readonly did: string | null;
  /** Why it failed; `null`: it did not. */
  readonly error: string | null;
}

/** The last runs, by the names of the jobs. */
export type JobNotes = Readonly<Record<string, JobNote>>;

const MAX_WORDS = 500;

/** The notes as a text. */
export function writeNotes(notes: JobNotes): string {
  const cut = (text: string | null): string | null => text && text.slice(0, MAX_WORDS);
  const entries = Object.entries(notes).map(([name, { atMs, did, error }]) => [
    name,
    { atMs, did: cut(did), error: cut(error) },
  ]);
  return JSON.stringify(Object.fromEntries(entries));
}

/** The notes of a text, which another version may have written. What is no note is left out. */
export function readNotes(text: string): JobNotes {
  try {
    const read: unknown = parseJson(text);
    if (typeof read !== "object" || read === null) return {};
    const notes = Object.entries(read as Record<string, Partial<JobNote> | null>);
    return Object.fromEntries(
      notes.flatMap(([name, note]) =>
        typeof note?.atMs === "number"
          ? [[name, { atMs: note.atMs, did: words(note.did), error: words(note.error) }]]
          : [],
      ),
    );
  } catch {
    return {};
  }
}

function words(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
