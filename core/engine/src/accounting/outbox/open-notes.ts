/** Notes of calls that have no committed row yet: they are carried into each new segment. */

import type { SpendRow } from "@sluice/contract";
import { encodeFrame } from "./frame.ts";

/** The notes of calls under way, by request. */
export class OpenNotes {
  /** Notes of one request are members of a JSON array. */
  readonly #byRequest = new Map<string, string>();

  /** Whether no call is under way. */
  get isEmpty(): boolean {
    return this.#byRequest.size === 0;
  }

  /** Adds a note that is in the log. */
  add(requestId: string, note: string): void {
    const before = this.#byRequest.get(requestId);
    this.#byRequest.set(requestId, before === undefined ? note : `${before},${note}`);
  }

  /** Drops the notes of these rows' requests, because the rows are committed. */
  close(rows: readonly SpendRow[]): void {
    for (const { requestId } of rows) this.#byRequest.delete(requestId);
  }

  /** A frame of all notes; no bytes without any. */
  frame(): Buffer {
    const notes = [...this.#byRequest.values()].join(",");
    return notes === "" ? Buffer.alloc(0) : Buffer.from(encodeFrame(0, notes, ""));
  }
}
