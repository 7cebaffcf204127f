/** Texts of one exchange that are asked about at the same time go into one call. */

/** Asks about several texts; the answers are in their order. */
export type Ask = (texts: readonly string[], signal: AbortSignal) => Promise<readonly (string | undefined)[]>;

interface Waiting {
  readonly text: string;
  readonly resolve: (reason: string | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Gathers texts by exchange until the turn of the event loop is over. A call carries texts of one exchange only: what goes wrong
 * with them is nobody else's trouble, and the call ends with the exchange.
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
  ask(exchange: string, text: string, signal: AbortSignal): Promise<string | undefined> {
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
        void this.#send(begun, signal);
      });
    });
  }

  async #send(batch: readonly Waiting[], signal: AbortSignal): Promise<void> {
    try {
      const reasons = await this.#ask(
        batch.map(({ text }) => text),
        signal,
      );
      for (const [index, { resolve }] of batch.entries()) resolve(reasons[index]);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}
