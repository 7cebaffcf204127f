/** Turns of the event loop: what comes to an outbox in one of them is one write at its end. */

import type { SpendRow } from "@sluice/contract";
import type { NotedCall } from "./note-text.ts";
import type { OpenNotes } from "./open-notes.ts";
import { Turn } from "./turn.ts";

/** What the turns are written with. */
export interface TurnParts {
  /** Commits rows and notes, all or none. Throws the error of the log. */
  write(rows: readonly SpendRow[], notes: string): void;
  /** Throws when there is too little space for notes of this length. */
  checkNotes(length: number): void;
  readonly openNotes: OpenNotes;
  /** The error of calls whose notes were not written. */
  refusal(cause: unknown): unknown;
  /** Rows were not committed. Returns the error of their callers. */
  failed(rows: readonly SpendRow[], cause: unknown): Error;
}

/** The present turn of an outbox. */
export class Turns {
  readonly #parts: TurnParts;
  #turn: Turn | undefined;
  #isClosed = false;

  constructor(parts: TurnParts) {
    this.#parts = parts;
  }

  /** Whether rows wait for their commit. */
  get hasRows(): boolean {
    return this.#turn !== undefined && this.#turn.rows.length > 0;
  }

  /** Settles when the rows are committed, at the end of this turn. */
  append(rows: readonly SpendRow[]): Promise<void> {
    if (this.#isClosed) return Promise.reject(closedError());
    return (this.#turn ??= this.#begin()).append(rows);
  }

  /** Settles when the note is written, at the end of this turn. */
  note(call: NotedCall, withdraw: () => void): Promise<void> {
    return (this.#turn ??= this.#begin()).note(call, withdraw);
  }

  /** Commits the present turn. Does nothing without one. Never throws. */
  commit(): void {
    const turn = this.#turn;
    if (turn === undefined) return;
    this.#turn = undefined;
    const { write, openNotes, refusal, failed } = this.#parts;
    const notes = this.#acceptNotes(turn);
    try {
      write(turn.rows, notes);
    } catch (error) {
      if (notes !== "") turn.refuseNotes(error, refusal);
      if (turn.rows.length > 0) turn.rejectRows(failed(turn.rows, error));
      return;
    }
    if (notes !== "") turn.resolveNotes(openNotes);
    openNotes.close(turn.rows);
    turn.resolveRows();
  }

  /** Refuses what comes from here on. */
  close(): void {
    this.#isClosed = true;
  }

  #begin(): Turn {
    setImmediate(commitTurn, this);
    return new Turn();
  }

  /** The notes of a turn as text, or none: its calls are refused then. */
  #acceptNotes(turn: Turn): string {
    const notes = turn.notes.join(",");
    if (notes === "") return "";
    try {
      if (this.#isClosed) throw closedError();
      this.#parts.checkNotes(notes.length);
      return notes;
    } catch (error) {
      turn.refuseNotes(error, this.#parts.refusal);
      return "";
    }
  }
}

function closedError(): Error {
  return new Error("the outbox is closed");
}

function commitTurn(turns: Turns): void {
  turns.commit();
}
