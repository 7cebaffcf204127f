/**
 * A signal that is made when it is asked for. An AbortSignal costs a microsecond, and most requests
 * end without a look at theirs.
 */

import type { Exchange } from "@sluice/contract";

/** What ends work early: an AbortSignal, or what has one on demand. */
export interface Ending {
  readonly aborted: boolean;
  /** Why it was aborted. */
  readonly reason: unknown;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/** Ends work early, once. Its signal is aborted with it, whenever the signal is made. */
export class LateSignal implements Ending {
  #aborted = false;
  #reason: unknown;
  #controller: AbortController | undefined;
  /** Most work has one listener at a time. */
  #listeners: (() => void)[] | undefined;

  get aborted(): boolean {
    return this.#aborted;
  }

  get reason(): unknown {
    return this.#reason;
  }

  /** The signal, for code that needs one. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#aborted) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /** Ends the work. The first reason stays. Throws the first error of the listeners, at the end. */
  abort(reason: unknown): void {
    if (this.#aborted) return;
    this.#aborted = true;
    this.#reason = reason;
    const listeners = this.#listeners ?? [];
    const errors: unknown[] = [];
    // As with an AbortSignal, a listener that an earlier one has removed is not called, and one
    // that throws keeps no other from being called.
    for (const listener of listeners.slice()) {
      if (!listeners.includes(listener)) continue;
      try {
        listener();
      } catch (error) {
        errors.push(error);
      }
    }
    this.#listeners = undefined;
    this.#controller?.abort(reason);
    if (errors.length > 0) throw errors[0];
  }

  /** A listener that is added twice is called once, and one that comes too late is not called. */
  addEventListener(_type: "abort", listener: () => void): void {
    if (this.#aborted || this.#listeners?.includes(listener) === true) return;
    if (this.#listeners === undefined) this.#listeners = [listener];
    else this.#listeners.push(listener);
  }

  removeEventListener(_type: "abort", listener: () => void): void {
    const at = this.#listeners?.indexOf(listener) ?? -1;
    if (at >= 0) this.#listeners?.splice(at, 1);
  }
}

/** What ends an exchange early. The engine's own has a signal on demand. */
export function endingOf(exchange: Pick<Exchange, "signal">): Ending {
  return (exchange as { readonly ending?: Ending }).ending ?? exchange.signal;
}

/** An AbortSignal of an ending. */
export function signalOf(ending: Ending): AbortSignal {
  return ending instanceof LateSignal ? ending.signal : (ending as AbortSignal);
}
