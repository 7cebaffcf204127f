/** Texts of one exchange that are asked about at the same time go into one call. */

import type { GuardrailCaller } from "@sluice/contract";

/** Asks about several texts; the answers are in their order. */
export type Ask = (
  texts: readonly string[],
  signal: AbortSignal,
  caller: GuardrailCaller | undefined,
) => Promise<readonly (string | undefined)[]>;

interface Waiting {
  readonly text: string;
  readonly resolve: (reason: string | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Gathers the texts of an exchange until the turn of the event loop is over. A call carries texts
 * of one exchange only: its failure affects no other exchange, and the call ends with the exchange.
 */
export class Batches {
  readonly #ask: Ask;
  readonly #most: number;
  readonly #open = new Map<string, Waiting[]>();

  constructor(ask: Ask, most: number) {
    this.#ask = ask;
    this.#most = most;
  }

  /** The reason to block a text, `undefined` for none. */
  ask(
    exchange: string,
    text: string,
    signal: AbortSignal,
    caller?: GuardrailCaller,
  ): Promise<string | undefined> {
    return new Promise((resolve, reject) => {
      const batch = this.#open.get(exchange);
      if (batch !== undefined) {
        batch.push({ text, resolve, reject });
        if (batch.length >= this.#most) this.#open.delete(exchange);
        return;
      }
      const begun: Waiting[] = [{ text, resolve, reject }];
      if (this.#most > 1) this.#open.set(exchange, begun);
      setImmediate(() => {
        if (this.#open.get(exchange) === begun) this.#open.delete(exchange);
        void this.#send(begun, signal, caller);
      });
    });
  }

  async #send(
    batch: readonly Waiting[],
    signal: AbortSignal,
    caller: GuardrailCaller | undefined,
  ): Promise<void> {
    try {
      const reasons = await this.#ask(
        batch.map(({ text }) => text),
        signal,
        caller,
      );
      for (const [index, { resolve }] of batch.entries()) resolve(reasons[index]);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}
