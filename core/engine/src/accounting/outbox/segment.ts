/**
 * A segment of the outbox log: one file of frames, written by one process, then read or removed.
 */

import {
  closeSync,
  fstatSync,
  fsync,
  ftruncateSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { parseJson } from "@sluice/kit";
import { encodeLine, textOfLine } from "./frame.ts";
import { readLines } from "./read-lines.ts";

const OWNER_ONLY = 0o600;

/** The first line of each segment has the number of its form. */
const FORM = 2;
/** In the first form rows have their names. */
const KNOWN_FORMS: readonly number[] = [1, FORM];

interface Header {
  readonly outbox: number;
  readonly first: number;
}

/** A line whose checksum is right, and where the next one begins. */
export interface SegmentLine {
  readonly text: Buffer;
  readonly end: number;
}

/** An open segment. */
export class Segment {
  readonly path: string;
  readonly number: number;
  /** The number of the first batch that may be in it. */
  readonly firstSequence: number;
  /** The number of the last batch in it; one less than `firstSequence` without any. */
  lastSequence: number;
  /** Where the first damaged line is that has a whole line behind it. */
  damagedAt: number | undefined;
  readonly #file: number;
  readonly #identity: string;
  #bytes: number;
  /** A failed write may have left bytes behind the last frame. */
  #hasRest = false;
  #isSyncing = false;
  #isClosed = false;

  /** Use `createSegment` and `openSegment`. */
  constructor(path: string, number: number, file: number, firstSequence?: number) {
    this.path = path;
    this.number = number;
    this.#file = file;
    const { dev, ino, size } = fstatSync(file, { bigint: true });
    this.#identity = `${dev}:${ino}`;
    this.#bytes = Number(size);
    this.firstSequence = firstSequence ?? readHeader(file, this.#bytes);
    this.lastSequence = this.firstSequence - 1;
  }

  /** Its length. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Appends frames, all or none. Throws the file system's error. */
  append(bytes: Buffer): void {
    // The number of a closed file may be another file's.
    if (this.#isClosed) throw new Error("it is closed");
    this.#removeRest();
    this.#hasRest = true;
    const written = writeSync(this.#file, bytes);
    if (written !== bytes.length) {
      // A full disk may take the first part.
      this.#removeRest();
      throw new Error(`the disk is full: ${written} of ${bytes.length} bytes were written`);
    }
    this.#hasRest = false;
    this.#bytes += bytes.length;
  }

  /** Writes these bytes and takes them back. Throws the file system's error. */
  probe(bytes: Buffer): void {
    const before = this.#bytes;
    this.append(bytes);
    this.#bytes = before;
    this.#hasRest = true;
    this.#removeRest();
  }

  /**
   * Its lines from an offset on, without the header. Lines that are cut or changed are left out.
   */
  *lines(offset = 0): Generator<SegmentLine> {
    let [at, badAt]: [number, number | undefined] = [offset, undefined];
    for (const line of readLines(this.#file, offset, this.#bytes)) {
      const begun = at;
      at += line.length + 1;
      const text = textOfLine(line);
      if (text === undefined) badAt ??= begun;
      else {
        this.damagedAt ??= badAt;
        if (begun > 0) yield { text, end: at };
      }
    }
  }

  /** Whether the file is in its place. */
  get isInPlace(): boolean {
    try {
      const found = statSync(this.path, { throwIfNoEntry: false, bigint: true });
      return found !== undefined && `${found.dev}:${found.ino}` === this.#identity;
    } catch {
      return false;
    }
  }

  /** Writes it to the disk, and waits. */
  syncNow(): void {
    fsyncSync(this.#file);
  }

  /** Writes it to the disk, in the background. */
  sync(onFailure: (error: Error) => void): void {
    this.#isSyncing = true;
    fsync(this.#file, (error) => {
      this.#isSyncing = false;
      if (this.#isClosed) closeSync(this.#file);
      else if (error !== null) onFailure(error);
    });
  }

  /** Closes the file, which stays. A second call has no effect. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (!this.#isSyncing) closeSync(this.#file);
  }

  /**
   * Closes and deletes the file. A damaged one is kept under another name. Throws the file system's
   * error; it then stays open.
   */
  remove(): void {
    if (this.damagedAt === undefined) rmSync(this.path, { force: true });
    else renameSync(this.path, `${this.path}.damaged`);
    this.close();
  }

  #removeRest(): void {
    if (!this.#hasRest) return;
    ftruncateSync(this.#file, this.#bytes);
    this.#hasRest = false;
  }
}

/**
 * The number of the first batch of a segment, from its first line. Throws `Error` for a file of
 * another form.
 */
export function readHeader(file: number, bytes: number): number {
  for (const line of readLines(file, 0, bytes)) {
    const text = textOfLine(line);
    if (text === undefined) break;
    const { outbox, first } = parseJson(text.toString()) as Header;
    if (!KNOWN_FORMS.includes(outbox)) throw new Error("it is of a newer version");
    return first;
  }
  throw new Error("it is damaged: its first line is not that of an outbox");
}

/**
 * Makes a segment that has these bytes behind its header. It appears under its name with all of
 * them. Throws the file system's error; no file is left then.
 */
export function createSegment(
  path: string,
  number: number,
  firstSequence: number,
  content: Buffer,
): Segment {
  const draft = `${path}.new`;
  const header = encodeLine(JSON.stringify({ outbox: FORM, first: firstSequence }));
  const bytes = Buffer.concat([header, content]);
  rmSync(draft, { force: true });
  const file = openSync(draft, "ax+", OWNER_ONLY);
  try {
    if (writeSync(file, bytes) !== bytes.length) throw new Error("the disk is full");
    renameSync(draft, path);
    return new Segment(path, number, file, firstSequence);
  } catch (error) {
    closeSync(file);
    rmSync(draft, { force: true });
    throw error;
  }
}

/** Opens a segment of an earlier process. Throws `Error` when it is none. */
export function openSegment(path: string, number: number): Segment {
  const file = openSync(path, "r+");
  try {
    return new Segment(path, number, file);
  } catch (error) {
    closeSync(file);
    throw error;
  }
}
