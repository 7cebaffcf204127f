/** Opens the log of an outbox, with what earlier processes left in it. */

import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { SpendRow } from "@sluice/contract";
import { framesOf } from "./batches.ts";
import { decodeFrame } from "./frame.ts";
import { type LogPlace, OutboxLog, segmentPath } from "./log.ts";
import { callOf, rowOfNote } from "./note-text.ts";
import { createSegment, openSegment, type Segment } from "./segment.ts";

/**
 * Opens the log. Calls that were under way when an earlier process was killed have their rows in it
 * then. Throws `Error` for a segment that cannot be used, and for the file system's errors.
 */
export function openLog(place: LogPlace): OutboxLog {
  const sealed: Segment[] = [];
  let active: Segment | undefined;
  try {
    for (const number of segmentNumbers(place)) {
      const segment = openWhole(segmentPath(place, number), number);
      if (segment === undefined) continue;
      const before = sealed.at(-1);
      if (before !== undefined) before.lastSequence = segment.firstSequence - 1;
      sealed.push(segment);
    }
    const newest = sealed.at(-1);
    active = createActive(place, newest, newest === undefined ? [] : scanNewest(newest));
    const log = new OutboxLog({ place, sealed, active });
    // Segments with notes alone. A damaged one is reported before it is renamed.
    if (newest?.damagedAt === undefined) log.discard(log.firstSequence - 1);
    return log;
  } catch (error) {
    for (const segment of sealed) segment.close();
    active?.close();
    throw error;
  }
}

/** The numbers of the segments in the folder, in their order. Deletes what a rotation left. */
function segmentNumbers({ directory, name }: LogPlace): readonly number[] {
  const numbers: number[] = [];
  for (const file of readdirSync(directory)) {
    const found = SEGMENT.exec(file);
    if (found?.[1] !== name.replace(/\.db$/, "")) continue;
    if (found[3] === undefined) numbers.push(Number(found[2]));
    else rmSync(join(directory, file), { force: true });
  }
  return numbers.toSorted((a, b) => a - b);
}

/** A segment, or the draft of one: the name of its outbox, its number, `.new`. */
const SEGMENT = /^(outbox(?:-\d+)?)\.(\d+)\.log(\.new)?$/;

/** The outbox to which a file of the data folder belongs; `undefined` for other files. */
export function outboxOf(file: string): string | undefined {
  const outbox = SEGMENT.exec(file)?.[1];
  return outbox === undefined ? undefined : `${outbox}.db`;
}

/** `undefined` for a segment that a loss of power left without its content. It is deleted. */
function openWhole(path: string, number: number): Segment | undefined {
  try {
    return openSegment(path, number);
  } catch (error) {
    if (!isBlank(path)) throw new Error(`${path}: ${(error as Error).message}`, { cause: error });
    rmSync(path);
    return undefined;
  }
}

function isBlank(path: string): boolean {
  return statSync(path).size === 0 || readFileSync(path).every((byte) => byte === 0);
}

/**
 * Sets the last batch of the newest segment. Returns the rows of its interrupted calls. Every open
 * note is in it: a segment begins with the open notes of the one before.
 */
function scanNewest(segment: Segment): readonly SpendRow[] {
  const notes = new Map<string, readonly unknown[]>();
  for (const line of segment.lines()) {
    const frame = decodeFrame(line.text);
    for (const note of frame.notes) notes.set(callOf(note[0], note[1]), note);
    for (const row of frame.rows) notes.delete(callOf(row.requestId, row.attempt));
    if (frame.sequence > segment.lastSequence) segment.lastSequence = frame.sequence;
  }
  return [...notes.values()].flatMap((note) => rowOfNote(note) ?? []);
}

function createActive(
  place: LogPlace,
  newest: Segment | undefined,
  rows: readonly SpendRow[],
): Segment {
  const number = (newest?.number ?? 0) + 1;
  const first = (newest?.lastSequence ?? 0) + 1;
  const batches = framesOf(rows, first, "");
  const frames = Buffer.concat(batches.map(({ frame }) => frame));
  const active = createSegment(segmentPath(place, number), number, first, frames);
  active.lastSequence = first + batches.length - 1;
  return active;
}
