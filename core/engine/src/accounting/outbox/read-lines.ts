/** Reads the lines of a file, a part of the file at a time. */

import { readSync } from "node:fs";

const LINE_FEED = 10;
const READ_BYTES = 262_144;

/**
 * The lines from one offset to another, without their line feeds. What has none is left out. Each
 * line is valid until the next.
 */
export function* readLines(file: number, from: number, end: number): Generator<Buffer> {
  let buffer = Buffer.allocUnsafe(Math.min(READ_BYTES, end + 1));
  let [offset, kept] = [from, 0];
  while (offset < end) {
    const read = readSync(file, buffer, kept, Math.min(buffer.length - kept, end - offset), offset);
    if (read === 0) return;
    offset += read;
    const filled = buffer.subarray(0, kept + read);
    let start = 0;
    for (;;) {
      const found = filled.indexOf(LINE_FEED, start);
      if (found === -1) break;
      yield filled.subarray(start, found);
      start = found + 1;
    }
    kept = filled.length - start;
    const next = kept > buffer.length / 2 ? Buffer.allocUnsafe(buffer.length * 2) : buffer;
    filled.copy(next, 0, start);
    buffer = next;
  }
}
