/**
 * Notes of calls: a file gets the parts of a call's row before the upstream is called, in case the
 * process is killed.
 */

import type { SpendRow } from "@sluice/contract";
import {
  closeSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { type NotedCall, noteLine, rowOfNote } from "./call-note-line.ts";

/**
 * The file is rewritten with the open notes alone when it is longer than this and than twice the
 * open notes.
 */
const MAX_CLOSED_BYTES = 1_048_576;
const OWNER_ONLY = 0o600;

/** The notes of one turn are encoded here; longer ones have a buffer of their own. */
const TURN_BYTES = 65_536;
const MAX_BYTES_PER_CHARACTER = 3;
const turnBuffer = Buffer.allocUnsafeSlow(TURN_BYTES);

/**
 * The file of notes beside an outbox: `calls.log` beside `outbox.db`, `calls-2.log` beside
 * `outbox-2.db`.
 */
export function callNotesName(outbox: string): string {
  return outbox.replace(/^outbox/, "calls").replace(/\.db$/, ".log");
}

/** The notes of one turn of the event loop: one write, and one promise. */
class Turn {
  text = "";
  readonly requestIds: string[] = [];
  readonly lines: string[] = [];
  readonly withdrawals: (() => void)[] = [];
  readonly #written = Promise.withResolvers<void>();

  constructor() {
    // Its calls may all have ended before they wait for it.
    this.#written.promise.catch(() => undefined);
  }

  get promise(): Promise<void> {
    return this.#written.promise;
  }

  resolve(): void {
    this.#written.resolve();
  }

  reject(failure: unknown): void {
    for (const withdraw of this.withdrawals) withdraw();
    this.#written.reject(failure);
  }
}

/**
 * An open file of notes. A note is one line, appended without a sync: it outlives the process, not
 * a loss of power. All notes of one turn of the event loop share one write. A note that is not
 * closed when the process ends becomes a row at the next start; of one that has its row already the
 * store keeps the first.
 */
export class CallNotes {
  readonly path: string;
  /** Called with a write that failed. Returns the error with which the calls are refused. */
  onFailure: (cause: unknown) => unknown = (cause) => cause;
  #file: number;
  #turn: Turn | undefined;
  /** The lines of each request whose rows are not committed yet. */
  readonly #open = new Map<string, string>();
  /** Characters of the open notes. */
  #openLength = 0;
  #bytes = 0;
  #nextLookBytes = MAX_CLOSED_BYTES;

  /**
   * Opens the file, which `readCallNotes` has been asked for before: what it holds is removed.
   * Throws `Error`.
   */
  constructor(directory: string, outbox: string) {
    this.path = join(directory, callNotesName(outbox));
    this.#file = openSync(this.path, "w", OWNER_ONLY);
    // Appending: two writes never overlap, and a file that was cut begins at its start.
    closeSync(this.#file);
    this.#file = openSync(this.path, "a", OWNER_ONLY);
  }

  /**
   * Notes a call. Resolves once the note is in the file, at the end of this turn of the event loop.
   * After a failed write it calls `withdraw` and rejects with the error of `onFailure`.
   */
  add(call: NotedCall, withdraw: () => void): Promise<void> {
    const { requestId } = call;
    const line = noteLine(call);
    let turn = this.#turn;
    if (turn === undefined) {
      turn = this.#turn = new Turn();
      setImmediate(commitTurn, this);
    }
    turn.text += line;
    turn.requestIds.push(requestId);
    turn.lines.push(line);
    turn.withdrawals.push(withdraw);
    const before = this.#open.get(requestId);
    this.#open.set(requestId, before === undefined ? line : before + line);
    this.#openLength += line.length;
    return turn.promise;
  }

  /**
   * Writes the notes of this turn now instead of at its end. Does nothing without notes. Never
   * throws.
   */
  commit(): void {
    const turn = this.#turn;
    if (turn === undefined) return;
    this.#turn = undefined;
    try {
      this.#write(turn.text);
    } catch (error) {
      this.#forget(turn);
      turn.reject(this.onFailure(error));
      return;
    }
    turn.resolve();
    if (this.#bytes > this.#nextLookBytes) this.#shorten();
  }

  /** Drops the notes of these rows' requests, because the rows are committed. */
  close(rows: readonly SpendRow[]): void {
    for (const { requestId } of rows) {
      const lines = this.#open.get(requestId);
      if (lines === undefined) continue;
      this.#openLength -= lines.length;
      this.#open.delete(requestId);
    }
  }

  /** Probes the file with a write. Throws the file system's error. */
  probe(): void {
    this.#write("\n");
  }

  /**
   * Writes what waits and closes the file, which stays: notes that are open are read by the next
   * start.
   */
  end(): void {
    this.commit();
    closeSync(this.#file);
    if (this.#open.size === 0) rmSync(this.path, { force: true });
  }

  #write(text: string): void {
    const isShort = text.length * MAX_BYTES_PER_CHARACTER <= TURN_BYTES;
    const bytes = isShort ? turnBuffer : Buffer.from(text);
    const length = isShort ? turnBuffer.write(text) : bytes.length;
    const written = writeSync(this.#file, bytes, 0, length);
    if (written === length) {
      this.#bytes += length;
      return;
    }
    // A full disk may take the first part of a line.
    ftruncateSync(this.#file, this.#bytes);
    throw new Error(`only ${written} of ${length} bytes were written`);
  }

  /** Takes back the notes of calls that will not be made. */
  #forget({ requestIds, lines }: Turn): void {
    requestIds.forEach((requestId, index) => {
      const [line = "", open] = [lines[index], this.#open.get(requestId)];
      if (open === undefined) return;
      this.#openLength -= line.length;
      if (open.length === line.length) this.#open.delete(requestId);
      else this.#open.set(requestId, open.slice(0, -line.length));
    });
  }

  /**
   * Removes closed notes from the file. A file that cannot be replaced is left as it is for another
   * while.
   */
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
    const text = [...this.#open.values()].join("");
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

function commitTurn(notes: CallNotes): void {
  notes.commit();
}

/**
 * The rows of the notes that an earlier process has left; none when there is no file. A line that
 * was cut is left out.
 */
export function readCallNotes(directory: string, outbox: string): readonly SpendRow[] {
  let text: string;
  try {
    text = readFileSync(join(directory, callNotesName(outbox)), "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
  return text.split("\n").flatMap((line) => (line === "" ? [] : (rowOfNote(line) ?? [])));
}
