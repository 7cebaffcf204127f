/** Notes of calls: before an upstream is called, the row that the call has if the process is killed is in a file. */

import type { SpendRow } from "@sluice/spec";
import { closeSync, ftruncateSync, openSync, readFileSync, renameSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";

/** The file is written anew, with the open notes alone, when it is longer than this and than twice those. */
const MAX_CLOSED_BYTES = 1_048_576;
const OWNER_ONLY = 0o600;

/** The file of notes beside an outbox: `calls.log` beside `outbox.db`, `calls-2.log` beside `outbox-2.db`. */
export function callNotesName(outbox: string): string {
  return outbox.replace(/^outbox/, "calls").replace(/\.db$/, ".log");
}

/**
 * An open file of notes. A note is one line, appended by one write without a sync: it outlives the process, not a loss of power.
 * A note that is not closed when the process ends becomes a row at the next start; of one that has its row already the store
 * keeps the first.
 */
export class CallNotes {
  readonly path: string;
  #file: number;
  /** The lines of each request whose rows are not committed yet. */
  readonly #open = new Map<string, string[]>();
  /** Characters of the open notes. */
  #openLength = 0;
  #bytes = 0;
  #nextLookBytes = MAX_CLOSED_BYTES;

  /** Opens the file, which `readCallNotes` has been asked for before: what it holds is removed. Throws `Error`. */
  constructor(directory: string, outbox: string) {
    this.path = join(directory, callNotesName(outbox));
    this.#file = openSync(this.path, "w", OWNER_ONLY);
    // Appending: two writes never overlap, and a file that was cut begins at its start.
    closeSync(this.#file);
    this.#file = openSync(this.path, "a", OWNER_ONLY);
  }

  /** Writes the row that a call has if nothing more is heard of it. Throws what the file system says; nothing is noted then. */
  add(row: SpendRow): void {
    const line = `${JSON.stringify(row)}\n`;
    this.#write(line);
    const lines = this.#open.get(row.requestId);
    if (lines === undefined) this.#open.set(row.requestId, [line]);
    else lines.push(line);
    this.#openLength += line.length;
  }

  /** Forgets the notes of these rows' requests: the rows themselves are committed. */
  close(rows: readonly SpendRow[]): void {
    for (const { requestId } of rows) {
      const lines = this.#open.get(requestId);
      if (lines === undefined) continue;
      for (const line of lines) this.#openLength -= line.length;
      this.#open.delete(requestId);
    }
    if (this.#bytes > this.#nextLookBytes) this.#shorten();
  }

  /** Whether the file takes a write. Throws what the file system says. */
  probe(): void {
    this.#write("\n");
  }

  /** Closes the file, which stays: notes that are open are read by the next start. */
  end(): void {
    closeSync(this.#file);
    if (this.#open.size === 0) rmSync(this.path, { force: true });
  }

  #write(line: string): void {
    const length = Buffer.byteLength(line);
    const written = writeSync(this.#file, line);
    if (written === length) {
      this.#bytes += length;
      return;
    }
    // A full disk may take the first part of a line.
    ftruncateSync(this.#file, this.#bytes);
    throw new Error(`only ${written} of ${length} bytes were written`);
  }

  /** Removes closed notes from the file. A file that cannot be replaced is left as it is for another while. */
  #shorten(): void {
    this.#nextLookBytes = this.#bytes + MAX_CLOSED_BYTES;
    if (this.#bytes < 2 * this.#openLength) return;
    try {
      if (this.#open.size === 0) {
        ftruncateSync(this.#file, 0);
        this.#bytes = 0;
      } else this.#replace();
      this.#nextLookBytes = this.#bytes + MAX_CLOSED_BYTES;
    } catch {
      rmSync(`${this.path}.new`, { force: true });
    }
  }

  #replace(): void {
    const draft = `${this.path}.new`;
    const text = [...this.#open.values()].flat().join("");
    writeFileSync(draft, text, { mode: OWNER_ONLY });
    const file = openSync(draft, "a", OWNER_ONLY);
    try {
      renameSync(draft, this.path);
    } catch (error) {
      closeSync(file);
      throw error;
    }
    closeSync(this.#file);
    this.#file = file;
    this.#bytes = Buffer.byteLength(text);
  }
}

/** The rows of the notes that an earlier process has left; none when there is no file. A line that was cut is left out. */
export function readCallNotes(directory: string, outbox: string): readonly SpendRow[] {
  let text: string;
  try {
    text = readFileSync(join(directory, callNotesName(outbox)), "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
  return text.split("\n").flatMap((line) => {
    if (line === "") return [];
    try {
      return [JSON.parse(line) as SpendRow];
    } catch {
      return [];
    }
  });
}
