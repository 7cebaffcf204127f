/** Sessions: the texts that are still coming, so that a service can keep what it knows of each. */

import { randomUUID } from "node:crypto";
import type { TextContext } from "@sluice/contract";

/** The session event of a text, for the service. */
export interface SessionEvent {
  readonly id: string;
  readonly event: "open" | "chunk" | "end";
  /** How many characters at the text's end are new to the service, in units of UTF-16. */
  readonly fresh: number;
}

/**
 * Texts at the same time at most. The one that was opened first is forgotten first, and opened anew
 * when more of it comes.
 */
const MAX_SESSIONS = 10_000;

interface Session {
  readonly id: string;
  /** How much of the text the service has seen. */
  seen: number;
}

/** The sessions of one guardrail. */
export class Sessions {
  readonly #open = new Map<string, Session>();

  get size(): number {
    return this.#open.size;
  }

  /**
   * The event for a text; `undefined` for a whole one. A session ends with its text, or with the
   * exchange.
   */
  eventOf(
    text: string,
    { exchange, direction, place, offset, isPartial }: TextContext,
    signal: AbortSignal,
  ): SessionEvent | undefined {
    const key = `${exchange} ${direction} ${place}`;
    const known = this.#open.get(key);
    const length = offset + text.length;
    if (!isPartial) {
      if (known === undefined) return undefined;
      this.#open.delete(key);
      return { id: known.id, event: "end", fresh: Math.min(text.length, length - known.seen) };
    }
    if (known !== undefined) {
      const fresh = Math.min(text.length, length - known.seen);
      known.seen = length;
      return { id: known.id, event: "chunk", fresh };
    }
    if (this.#open.size >= MAX_SESSIONS) {
      const [oldest] = this.#open.keys();
      if (oldest !== undefined) this.#open.delete(oldest);
    }
    const session = { id: randomUUID(), seen: length };
    this.#open.set(key, session);
    signal.addEventListener(
      "abort",
      () => void (this.#open.get(key) === session && this.#open.delete(key)),
      { once: true },
    );
    return { id: session.id, event: "open", fresh: text.length };
  }
}
