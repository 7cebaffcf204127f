/**
 * The log lines of failed requests. Upstreams that fail and limits that refuse have a bound of
 * lines a second, of which one key has a part. One more line counts the others. Each line is a
 * write on the event loop.
 */

import type { GatewayError, Log } from "@sluice/contract";
import { isLedgerRefusal } from "../accounting/ledger/guard.ts";
import type { LiveExchange } from "../pipeline/exchange.ts";

/** Lines for one error code in one second. */
const MAX_LINES = 100;
/** Lines for failures with the status 500 in one second. */
const MAX_OWN_LINES = 1_000;
/** Lines of one key for a code; with the status 500, of one key for a cause. */
const MAX_ALIKE = 20;
const WINDOW_MS = 1_000;

/** What a line shows of an exchange. */
type Failed = Pick<LiveExchange, "id" | "generation" | "attempts" | "identity">;

/** The failures of one error code in the present second. */
interface Failures {
  count: number;
  named: number;
  /**
   * Lines by key id, with the status 500 by key id and cause. Requests without a key count
   * together.
   */
  readonly namedOf: Map<string, number>;
}

/** The lines of one process. */
export class FailureLog {
  readonly #log: Log;
  /** By error code. */
  readonly #failures = new Map<string, Failures>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** Writes one line for a failure that is not the client's own. */
  report({ id, generation, attempts, identity }: Failed, error: GatewayError): void {
    // The ledger may refuse hundreds of requests a second and logs that itself, once.
    if (error.status < 500 || isLedgerRefusal(error)) return;
    // What a plugin or the gateway did wrong is found by its line alone.
    const isOwn = error.status === 500;
    const key = identity?.keyId ?? "";
    const hasRoom = isOwn
      ? this.#hasRoom(error.code, `${key}\n${reasonOf(error)}`, MAX_OWN_LINES)
      : this.#hasRoom(error.code, key, MAX_LINES);
    if (!hasRoom) return;
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
  #hasRoom(code: string, what: string, max: number): boolean {
    if (this.#failures.size === 0) setTimeout(() => this.#end(), WINDOW_MS).unref();
    const failures = this.#failures.get(code) ?? { count: 0, named: 0, namedOf: new Map() };
    this.#failures.set(code, failures);
    failures.count += 1;
    const alike = failures.namedOf.get(what) ?? 0;
    if (failures.named >= max || alike >= MAX_ALIKE) return false;
    failures.named += 1;
    failures.namedOf.set(what, alike + 1);
    return true;
  }

  /** Ends the second. */
  #end(): void {
    for (const [code, { count, named }] of this.#failures)
      if (count > named)
        this.#log.warn("more requests failed than the log names", {
          code,
          not_named: count - named,
        });
    this.#failures.clear();
  }
}

function reasonOf({ message, cause }: GatewayError): string {
  return cause instanceof Error ? `${message} ${cause.message}` : message;
}
