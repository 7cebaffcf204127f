/**
 * The log of an outbox: segments of frames. Frames are appended to the newest segment; a segment is
 * deleted when all of its rows have left.
 */

import { join } from "node:path";
import { createSegment, type Segment } from "./segment.ts";

/** A segment is followed by another one when it is longer than this. */
const MAX_SEGMENT_BYTES = 4 * 2 ** 20;
/** Small logs have this many segments. */
const MIN_SEGMENTS = 8;

/** Space that notes leave free, so that the rows of calls under way fit. */
const MAX_RESERVE_BYTES = 64 * 2 ** 20;
const MIN_RESERVE_SHARE = 1 / 8;

/** Not a line: a process that is killed meanwhile leaves no frame. */
const PROBE = Buffer.alloc(64 * 1024, " ");

/** The place of a log: `outbox.7.log` for the name `outbox.db`, in its folder. */
export interface LogPlace {
  readonly directory: string;
  readonly name: string;
}

/** The path of a segment. */
export function segmentPath({ directory, name }: LogPlace, number: number): string {
  return join(directory, `${name.replace(/\.db$/, "")}.${number}.log`);
}

/** The parts of a log that is recovered. */
export interface LogParts {
  readonly place: LogPlace;
  /** Segments of earlier processes, oldest first. */
  readonly sealed: readonly Segment[];
  /** The segment of this process. */
  readonly active: Segment;
}

/** An open log. */
export class OutboxLog {
  readonly #place: LogPlace;
  #sealed: Segment[];
  #active: Segment;
  /** Bytes of the notes that the active segment began with. */
  #carriedBytes = 0;
  #maxBytes = Number.POSITIVE_INFINITY;
  /** A segment that cannot be followed by another one is retried at this length. */
  #nextRotationBytes = 0;
  /** The frames of the notes of calls under way. */
  carried: () => Buffer = () => Buffer.alloc(0);
  /** Called when a segment could not be written to the disk. */
  onFailure: (error: Error) => void = () => undefined;

  constructor({ place, sealed, active }: LogParts) {
    this.#place = place;
    this.#sealed = [...sealed];
    this.#active = active;
  }

  /** Bounds the log. Recovered rows are not bounded. */
  limit(maxBytes: number): void {
    this.#maxBytes = maxBytes;
  }

  /** The oldest batch that may be in it. */
  get firstSequence(): number {
    return (this.#sealed[0] ?? this.#active).firstSequence;
  }

  /** The newest batch in it. */
  get lastSequence(): number {
    return this.#active.lastSequence;
  }

  /** The bytes of all segments. */
  get bytes(): number {
    return this.#sealed.reduce((sum, { bytes }) => sum + bytes, this.#active.bytes);
  }

  /** Throws when notes of this length would leave too little space for the rows of their calls. */
  checkNotes(length: number): void {
    const reserve = Math.min(MAX_RESERVE_BYTES, this.#maxBytes * MIN_RESERVE_SHARE);
    if (this.#maxBytes !== Number.POSITIVE_INFINITY) this.#checkRoom(length + reserve);
  }

  /**
   * Begins another segment when the newest one is long. Batches up to `discarded` have left. Never
   * throws.
   */
  prepare(discarded: number): void {
    if (this.#active.bytes > this.#rotationBytes) this.#rotate(discarded);
  }

  /**
   * Appends frames, all or none; `through` is the newest batch in them. Throws the error of the
   * file system, or that the log is full.
   */
  append(frames: Buffer, through: number): void {
    this.#checkRoom(frames.length);
    this.#active.append(frames);
    this.#active.lastSequence = through;
  }

  /** Writes as much as the rows of some requests take, and removes it. Throws as `append`. */
  probe(): void {
    this.checkNotes(0);
    this.#active.probe(PROBE);
  }

  /** All segments, oldest first. */
  get segments(): readonly Segment[] {
    return [...this.#sealed, this.#active];
  }

  /**
   * Deletes the segments whose batches are all numbered up to this one. Throws the file system's
   * error.
   */
  discard(through: number): void {
    for (;;) {
      const oldest = this.#sealed[0];
      if (oldest === undefined || oldest.lastSequence > through) return;
      oldest.remove();
      this.#sealed.shift();
    }
  }

  /** Writes all of it to the disk, and waits. */
  sync(): void {
    for (const segment of this.segments) segment.syncNow();
  }

  /** The first segment that is not in its place, in a sentence; `undefined` when all are. */
  fault(): string | undefined {
    const moved = this.segments.find((segment) => !segment.isInPlace);
    return moved === undefined
      ? undefined
      : `The data folder was removed or replaced: ${moved.path} is missing or another file. Put the folder back, or restart the gateway.`;
  }

  /** Closes the log. `isEmpty`: neither rows nor notes are in it, and its files are deleted. */
  close(isEmpty: boolean): void {
    for (const segment of this.segments) {
      if (isEmpty) segment.remove();
      else segment.close();
    }
  }

  get #rotationBytes(): number {
    const bytes = Math.min(MAX_SEGMENT_BYTES, this.#maxBytes / MIN_SEGMENTS);
    return Math.max(bytes, 2 * this.#carriedBytes, this.#nextRotationBytes);
  }

  #checkRoom(length: number): void {
    const bytes = this.bytes;
    if (bytes + length <= this.#maxBytes) return;
    throw new Error(`it is full: ${bytes} of ${this.#maxBytes} bytes are in use`);
  }

  /**
   * Begins another segment. On a failure the present one is used on: a write decides whether the
   * disk takes rows.
   */
  #rotate(discarded: number): void {
    const before = this.#active;
    const carried = this.carried();
    try {
      // In a folder that was replaced, a segment would not be found by the next start.
      if (!before.isInPlace) throw new Error(`${before.path} is not in its place`);
      const number = before.number + 1;
      const path = segmentPath(this.#place, number);
      this.#active = createSegment(path, number, before.lastSequence + 1, carried);
    } catch {
      this.#nextRotationBytes = before.bytes + MAX_SEGMENT_BYTES / MIN_SEGMENTS;
      return;
    }
    this.#nextRotationBytes = 0;
    this.#carriedBytes = carried.length;
    this.#sealed.push(before);
    if (before.lastSequence > discarded) before.sync(this.onFailure);
    try {
      this.discard(discarded);
    } catch {
      // The relay's next discard tries again, and reports it.
    }
  }
}
