/** Reads batches back from the segments of a log: those that are not in memory. */

import type { SpendRow } from "@sluice/contract";
import { decodeFrame, sequenceOf } from "./frame.ts";
import type { OutboxLog } from "./log.ts";
import type { Segment } from "./segment.ts";

/** Committed rows, oldest first, with the number of the last batch they come from. */
export interface OutboxBatch {
  readonly rows: readonly SpendRow[];
  readonly throughSequence: number;
}

/** A reader that goes on where it was. */
export class LogReader {
  readonly #log: OutboxLog;
  /** The place behind the last batch that was read. */
  #next:
    | { readonly segment: Segment; readonly sequence: number; readonly offset: number }
    | undefined;
  /** Damaged segments that were reported. */
  readonly #reported = new WeakSet<Segment>();
  #report: ((path: string) => void) | undefined;

  constructor(log: OutboxLog) {
    this.#log = log;
  }

  /** Called with the path of a segment from which not all rows can be read. */
  set onDamage(report: (path: string) => void) {
    this.#report = report;
    for (const segment of this.#log.segments) this.#checkDamage(segment);
  }

  /**
   * Reads whole batches numbered `from` up to but not including `end`, as many as `maxRows` rows
   * allow, but at least one. `undefined` without any.
   */
  read(from: number, end: number, maxRows: number): OutboxBatch | undefined {
    const rows: SpendRow[] = [];
    let throughSequence = 0;
    for (const segment of this.#log.segments) {
      if (segment.lastSequence < from || segment.firstSequence >= end) continue;
      for (const line of segment.lines(this.#offsetIn(segment, from))) {
        this.#checkDamage(segment);
        const sequence = sequenceOf(line.text);
        if (sequence < from) continue;
        if (sequence >= end) break;
        const batch = decodeFrame(line.text).rows;
        if (throughSequence !== 0 && rows.length + batch.length > maxRows)
          return { rows, throughSequence };
        for (const row of batch) rows.push(row);
        throughSequence = sequence;
        this.#next = { segment, sequence: sequence + 1, offset: line.end };
      }
    }
    return throughSequence === 0 ? undefined : { rows, throughSequence };
  }

  /** Reports that a batch is not in its segment, whose file is then kept. */
  miss(sequence: number): void {
    for (const segment of this.#log.segments) {
      if (sequence < segment.firstSequence || sequence > segment.lastSequence) continue;
      segment.damagedAt ??= segment.bytes;
      this.#checkDamage(segment);
    }
  }

  #offsetIn(segment: Segment, from: number): number {
    const next = this.#next;
    return next?.segment === segment && next.sequence <= from ? next.offset : 0;
  }

  #checkDamage(segment: Segment): void {
    if (segment.damagedAt === undefined || this.#reported.has(segment)) return;
    if (this.#report === undefined) return;
    this.#reported.add(segment);
    this.#report(segment.path);
  }
}
