/** Scopes: what a generation leaves behind, closed in the reverse order of its making. */

import type { Log, Scope } from "@sluice/spec";

/** A list of things to close. `close` runs them once, the newest first; a failure is logged and stops nothing. */
export class ClosingScope implements Scope {
  readonly #log: Log;
  #closers: (() => void | Promise<void>)[] = [];

  constructor(log: Log) {
    this.#log = log;
  }

  defer(close: () => void | Promise<void>): void {
    this.#closers.push(close);
  }

  async close(): Promise<void> {
    const closers = this.#closers.toReversed();
    this.#closers = [];
    for (const close of closers) {
      try {
        await close();
      } catch (error) {
        this.#log.error("closing a part of a generation failed", { error });
      }
    }
  }
}
