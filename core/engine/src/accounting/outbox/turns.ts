/**
 * Turns of the event loop: what comes to an outbox in one of them is one write at its end. Notes
 * of calls without a committed row are carried into each new segment.
 */

import type { SpendRow } from "@sluice/contract";
import { TransientMap } from "@sluice/runtime/state";
import { type NotedCall, noteTexts } from "./note-text.ts";
import { encodeFrame } from "./frame.ts";

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
    if (turn.calls.length === 0) return "";
    const notes = noteTexts(turn.calls);
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

/** The notes and rows of one turn: one write, a promise of the notes and one of the rows. */
class Turn {
  readonly rows: SpendRow[] = [];
  readonly calls: NotedCall[] = [];
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
    this.calls.push(call);
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
    for (const call of this.calls) open.add(call);
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

function closedError(): Error {
  return new Error("the outbox is closed");
}

function commitTurn(turns: Turns): void {
  turns.commit();
}

/** The notes of calls under way, by request. */
export class OpenNotes {
  /** Most requests have one call. */
  readonly #byRequest = new TransientMap<NotedCall | readonly NotedCall[]>();

  /** Whether no call is under way. */
  get isEmpty(): boolean {
    return this.#byRequest.size === 0;
  }

  /** Adds a call whose note is in the log. */
  add(call: NotedCall): void {
    const before = this.#byRequest.get(call.requestId);
    this.#byRequest.set(call.requestId, before === undefined ? call : [before, call].flat());
  }

  /** Drops the notes of these rows' requests, because the rows are committed. */
  close(rows: readonly SpendRow[]): void {
    for (const { requestId } of rows) this.#byRequest.delete(requestId);
  }

  /** A frame of all notes; no bytes without any. */
  frame(): Buffer {
    if (this.isEmpty) return Buffer.alloc(0);
    const notes = noteTexts(this.#byRequest.entries().flatMap(([, calls]) => calls));
    return Buffer.from(encodeFrame(0, notes, ""));
  }
}
