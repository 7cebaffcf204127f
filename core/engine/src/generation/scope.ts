/**
 * Scopes: what a generation or a process leaves behind, closed in the reverse order of its making.
 */

import type { Log, Scope } from "@sluice/contract";

/**
 * A list of things to close. `close` runs them once, the newest first; a failure is logged and
 * stops nothing.
 */
export class ClosingScope implements Pick<Scope, "defer"> {
  readonly #log: Log;
  #controller: AbortController | undefined;
  #isClosed = false;
  #closers: (() => void | Promise<void>)[] = [];

  constructor(log: Log) {
    this.#log = log;
  }

  defer(close: () => void | Promise<void>): void {
    this.#closers.push(close);
  }

  /** Created on first use: few plugins listen. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#isClosed) this.#controller.abort(ENDED());
    return this.#controller.signal;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#controller?.abort(ENDED());
    const closers = this.#closers.toReversed();
    this.#closers = [];
    for (const close of closers) {
      try {
        await close();
      } catch (error) {
        this.#log.error("closing a part failed", { error });
      }
    }
  }
}

const ENDED = (): Error => new Error("The generation has ended.");

/** A plugin's view of a scope: what its timers throw is logged under its name, and ends nothing. */
export function pluginScope(scope: ClosingScope, log: Log): Scope {
  return {
    defer: (close) => scope.defer(close),
    get signal() {
      return scope.signal;
    },
    every(intervalMs, work) {
      let isBusy = false;
      const run = async (): Promise<void> => {
        if (isBusy) return;
        isBusy = true;
        try {
          await work();
        } catch (error) {
          log.error("a plugin's timer failed", { error });
        }
        isBusy = false;
      };
      const timer = setInterval(() => void run(), intervalMs);
      timer.unref();
      scope.defer(() => clearInterval(timer));
    },
  };
}
