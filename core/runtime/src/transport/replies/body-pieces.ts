/** A body's bytes in pieces that one turn of the event loop can process. */

import { nextTurn, type ResponseBody } from "@sluice/kit/internals";

/**
 * Maximum bytes that are processed in one turn. A larger arrival is split, and each piece waits for
 * a turn of its own.
 */
const TURN_BYTES = 65_536;

/** The pieces of one body. */
export class BodyPieces {
  readonly #body: ResponseBody;
  /** Pieces that wait for a turn of their own, the next one last. */
  #later: Uint8Array[] = [];

  constructor(body: ResponseBody) {
    this.#body = body;
  }

  /** Whether all bytes of a whole body have been taken. */
  get isOver(): boolean {
    return this.#later.length === 0 && this.#body.isOver;
  }

  /** The promise to await before `take` has a result; `undefined` when it has one. */
  arrival(): Promise<void> | undefined {
    return this.#later.length > 0 ? nextTurn(undefined, this.#body.holder) : this.#body.arrival();
  }

  /** The bytes for this turn; `undefined` at the end. Throws the failure of the body. */
  take(): readonly Uint8Array[] | undefined {
    const piece = this.#later.pop();
    if (piece !== undefined) return [piece];
    const chunks = this.#body.take();
    if (chunks === undefined) return undefined;
    let bytes = 0;
    for (const chunk of chunks) bytes += chunk.length;
    if (bytes <= TURN_BYTES) return chunks;
    for (const chunk of chunks) {
      for (let at = 0; at < chunk.length; at += TURN_BYTES)
        this.#later.push(chunk.subarray(at, at + TURN_BYTES));
    }
    this.#later.reverse();
    return [];
  }
}
