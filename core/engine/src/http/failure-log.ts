/**
 * The log lines of failed requests. Upstreams that fail and limits that refuse get so many lines a
 * second, and one that counts the others: each line is a write on the event loop.
 */

import type { GatewayError, Log } from "@sluice/contract";
import { isLedgerRefusal } from "../accounting/ledger/guard.ts";
import type { LiveExchange } from "../pipeline/exchange.ts";

/** Lines for one error code in one second. */
const MAX_LINES = 20;
const WINDOW_MS = 1_000;

/** What a line shows of an exchange. */
type Failed = Pick<LiveExchange, "id" | "generation" | "attempts">;

/** The lines of one process. */
export class FailureLog {
  readonly #log: Log;
  /** Failures of the present second, by error code. */
  readonly #counts = new Map<string, number>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** Writes one line for a failure that is not the client's own. */
  report({ id, generation, attempts }: Failed, error: GatewayError): void {
    // The ledger may refuse hundreds of requests a second and logs that itself, once.
    if (error.status < 500 || isLedgerRefusal(error)) return;
    // What a plugin or the gateway did wrong is found by its line alone.
    const isOwn = error.status === 500;
    if (!isOwn && !this.#hasRoom(error.code)) return;
    const fields = {
      request_id: id,
      generation,
      target: attempts.at(-1)?.target.id,
      error,
    };
    if (isOwn) this.#log.error("request failed", fields);
    else this.#log.warn("request failed", fields);
  }

  /** Counts a failure. Returns whether it gets a line. */
  #hasRoom(code: string): boolean {
    if (this.#counts.size === 0) setTimeout(() => this.#end(), WINDOW_MS).unref();
    const count = (this.#counts.get(code) ?? 0) + 1;
    this.#counts.set(code, count);
    return count <= MAX_LINES;
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
