/** What comes to an outbox in one turn of the event loop. */

import type { SpendRow } from "@sluice/contract";
import { type NotedCall, noteText } from "./note-text.ts";
import type { OpenNotes } from "./open-notes.ts";

/** The notes and rows of one turn: one write, a promise of the notes and one of the rows. */
export class Turn {
  readonly rows: SpendRow[] = [];
  readonly notes: string[] = [];
  readonly #requestIds: string[] = [];
  readonly #withdrawals: (() => void)[] = [];
  #committed: PromiseWithResolvers<void> | undefined;
  #noted: PromiseWithResolvers<void> | undefined;

  /** Settles when the rows are committed. */
  append(rows: readonly SpendRow[]): Promise<void> {
    for (const row of rows) this.rows.push(row);
    this.#committed ??= Promise.withResolvers();
    return this.#committed.promise;
  }

  /** Settles when the note is written. */
  note(call: NotedCall, withdraw: () => void): Promise<void> {
    this.notes.push(noteText(call));
    this.#requestIds.push(call.requestId);
    this.#withdrawals.push(withdraw);
    if (this.#noted === undefined) {
      this.#noted = Promise.withResolvers();
      // Its calls may all have ended before they wait for it.
      this.#noted.promise.catch(() => undefined);
    }
    return this.#noted.promise;
  }

  /** The notes are written: they are open from here on. */
  resolveNotes(open: OpenNotes): void {
    for (let index = 0; index < this.notes.length; index += 1)
      open.add(this.#requestIds[index]!, this.notes[index]!);
    this.#noted?.resolve();
  }

  /** The notes are not written. `refusal` makes the error of the calls. */
  refuseNotes(cause: unknown, refusal: (cause: unknown) => unknown): void {
    for (const withdraw of this.#withdrawals) withdraw();
    this.#noted?.reject(refusal(cause));
  }

  /** The rows are committed. */
  resolveRows(): void {
    this.#committed?.resolve();
  }

  /** The rows are not committed. */
  rejectRows(failure: Error): void {
    this.#committed?.reject(failure);
  }
}
