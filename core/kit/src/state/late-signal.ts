/**
 * A signal that is made when it is asked for. An AbortSignal costs a microsecond, and most requests
 * end without a look at theirs.
 */

import type { Exchange } from "@sluice/contract";
import { type Holder, holderOf } from "./parts.ts";

/** What ends work early: an AbortSignal, or what has one on demand. */
export interface Ending {
  readonly aborted: boolean;
  /** Why it was aborted. */
  readonly reason: unknown;
  /** The holder of the work, for turns and places that keys share. Absent: it is not known. */
  readonly holder?: Holder | undefined;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/** What the holder of work is known by. The identity of an exchange is set during its work. */
type Owner = Pick<Exchange, "identity">;

/** Ends work early, once. Its signal is aborted with it, whenever the signal is made. */
export class LateSignal implements Ending {
  readonly #owner: Owner | undefined;
  #aborted = false;
  #reason: unknown;
  #controller: AbortController | undefined;
  /** Most work has one listener at a time. */
  #listeners: (() => void)[] | undefined;

  /** `owner`: whose work it ends. Absent: it is not known. */
  constructor(owner?: Owner) {
    this.#owner = owner;
  }

  get holder(): Holder | undefined {
    return this.#owner === undefined ? undefined : holderOf(this.#owner.identity);
  }

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

/** The ending of an exchange that has a signal alone. */
class OwnedSignal implements Ending {
  readonly signal: AbortSignal;
  readonly holder: Holder;

  constructor({ signal, identity }: Pick<Exchange, "signal" | "identity">) {
    this.signal = signal;
    this.holder = holderOf(identity);
  }

  get aborted(): boolean {
    return this.signal.aborted;
  }

  get reason(): unknown {
    return this.signal.reason;
  }

  addEventListener(type: "abort", listener: () => void): void {
    this.signal.addEventListener(type, listener);
  }

  removeEventListener(type: "abort", listener: () => void): void {
    this.signal.removeEventListener(type, listener);
  }
}

/** What ends an exchange early. The engine's own has a signal on demand. */
export function endingOf(exchange: Pick<Exchange, "signal" | "identity">): Ending {
  return (exchange as { readonly ending?: Ending }).ending ?? new OwnedSignal(exchange);
}

/** An AbortSignal of an ending. */
export function signalOf(ending: Ending): AbortSignal {
  return ending instanceof LateSignal || ending instanceof OwnedSignal
    ? ending.signal
    : (ending as AbortSignal);
}
