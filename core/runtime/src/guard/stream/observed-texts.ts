/** The texts of a stream that observing guardrails check once the stream has ended. */

import { EscapeReader } from "@sluice/kit/internals";
import type { GuardrailSet } from "../guardrail-set.ts";
import type { StreamPiece } from "./dialect.ts";
import type { StreamContext } from "./options.ts";

interface ObservedText {
  /** The first piece. */
  readonly piece: StreamPiece;
  text: string;
  isCut: boolean;
}

/** Collects the text of every channel, up to `maxHeld` characters each. */
export class ObservedTexts {
  readonly #observers: GuardrailSet;
  readonly #context: StreamContext;
  readonly #maxHeld: number;
  readonly #texts = new Map<string, ObservedText>();

  constructor(observers: GuardrailSet, context: StreamContext, maxHeld: number) {
    this.#observers = observers;
    this.#context = context;
    this.#maxHeld = maxHeld;
  }

  add(piece: StreamPiece): void {
    const known = this.#texts.get(piece.channel);
    if (known === undefined)
      this.#texts.set(piece.channel, { piece, text: piece.text, isCut: false });
    // Text beyond the bound is not checked, which is reported. An observer changes nothing either
    // way.
    else if (known.text.length < this.#maxHeld) known.text += piece.text;
    else known.isCut = true;
  }

  /** Calls the observers with the collected texts, and drops them. */
  async check(): Promise<void> {
    for (const [place, { piece, text, isCut }] of this.#texts) {
      const set = this.#observers.for(piece.part);
      if (isCut) set.missed(this.#context.direction, this.#maxHeld);
      const about = { ...this.#context, part: piece.part, place, isPartial: false, offset: 0 };
      // oxlint-disable-next-line no-await-in-loop -- one text after the other: only the end of the
      // stream waits for them.
      await set.check(piece.isJson === true ? new EscapeReader().push(text) : text, about);
    }
    this.#texts.clear();
  }
}
