/** Notes of calls that wait until the client has its answer. */

import type { AttemptWriter } from "@sluice/contract";
import type { LiveExchange, NoteWriter } from "../../pipeline/exchange.ts";
import type { Detachment } from "./detachment.ts";

/**
 * Answers the client of a detached exchange before its first call is noted. Where it cannot be
 * detached, the call is not made. `detachment` is asked at each call.
 */
export class DetachingNote implements NoteWriter {
  readonly #note: NoteWriter;
  readonly #detachment: () => Detachment | undefined;

  constructor(note: NoteWriter, detachment: () => Detachment | undefined) {
    this.#note = note;
    this.#detachment = detachment;
  }

  write(exchange: LiveExchange, attempt: AttemptWriter): Promise<void> | undefined {
    const detaching = this.#detachment()?.detach();
    if (detaching === undefined) return this.#note.write(exchange, attempt);
    return detaching.then(
      () => this.#note.write(exchange, attempt),
      (error: unknown) => {
        exchange.withdraw(attempt);
        throw error;
      },
    );
  }
}
