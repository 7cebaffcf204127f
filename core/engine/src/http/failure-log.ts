/**
 * The log lines of failed requests. A client that sends what fails again and again gets so many
 * lines a second, and one that counts the others: each line is a write on the event loop.
 */

import type { GatewayError, Log } from "@sluice/contract";
import { isLedgerRefusal } from "../accounting/ledger/guard.ts";
import type { LiveExchange } from "../pipeline/exchange.ts";

/** Lines for one error code in one second. */
const MAX_LINES = 20;
const WINDOW_MS = 1_000;

/** The lines of one process. */
export class FailureLog {
  readonly #log: Log;
  /** Failures of the present second, by error code. */
  readonly #counts = new Map<string, number>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** Writes one line for a failure that is not the client's own. */
  report(exchange: LiveExchange, error: GatewayError): void {
    // The ledger may refuse hundreds of requests a second and logs that itself, once.
    if (error.status < 500 || isLedgerRefusal(error)) return;
    if (this.#counts.size === 0) setTimeout(() => this.#end(), WINDOW_MS).unref();
    const count = (this.#counts.get(error.code) ?? 0) + 1;
    this.#counts.set(error.code, count);
    if (count > MAX_LINES) return;
    const fields = {
      request_id: exchange.id,
      generation: exchange.generation,
      target: exchange.attempts.at(-1)?.target.id,
      error,
    };
    if (error.status === 500) this.#log.error("request failed", fields);
    else this.#log.warn("request failed", fields);
  }

  /** Ends the second. */
  #end(): void {
    for (const [code, count] of this.#counts)
      if (count > MAX_LINES)
        this.#log.warn("more requests failed than the log names", {
          code,
          not_named: count - MAX_LINES,
        });
    this.#counts.clear();
  }
}
