/** The guard of the ledger: checks that spend rows can be stored before an upstream is called. */

import { errorMessage, GatewayError, type Clock, type Log, type SpendRow } from "@sluice/contract";
import type { NotedCall } from "../outbox/note-text.ts";
import type { Outbox } from "../outbox/outbox.ts";

/** The interval of the checks, and of retried writes. */
const LOOK_MS = 1_000;

/** The place that cannot store rows at present. */
export interface LedgerFault {
  /** `data_folder`, `disk`, `outbox` or `store`. */
  readonly place: string;
  /** The fault and its remedy, for the operator. */
  readonly text: string;
  readonly sinceMs: number;
}

/** Checks a place once a second. Returns its fault as a sentence; `undefined` without one. */
export type LookAtPlace = () => string | undefined | Promise<string | undefined>;

/** The parts of a guard. */
export interface LedgerGuardOptions {
  readonly outbox: Outbox;
  /** Places that rows depend on, by name, the most specific first. */
  readonly places: Readonly<Record<string, LookAtPlace>>;
  readonly log: Log;
  readonly clock: Clock;
}

/**
 * A running guard. During a fault it writes no rows. It keeps them in memory until the fault has
 * passed, so none is lost.
 */
export class LedgerGuard {
  readonly #outbox: Outbox;
  readonly #places: LedgerGuardOptions["places"];
  readonly #log: Log;
  readonly #clock: Clock;
  #timer: NodeJS.Timeout | undefined;
  #fault: LedgerFault | undefined;
  #refused = 0;
  #isEnded = false;

  constructor({ outbox, places, log, clock }: LedgerGuardOptions) {
    this.#outbox = outbox;
    this.#places = places;
    this.#log = log;
    this.#clock = clock;
    outbox.onFailure = (error) => this.#failed(error);
    outbox.onNoteFailure = (cause) => {
      this.#failed(cause);
      return ledgerUnavailable(cause);
    };
    this.#arm();
  }

  /** The fault; `undefined` while rows can be stored. */
  get fault(): LedgerFault | undefined {
    return this.#fault;
  }

  /** Throws `overloaded` while rows cannot be stored. Costs one comparison while they can. */
  check(): void {
    if (this.#fault === undefined) return;
    this.#refused += 1;
    throw ledgerUnavailable();
  }

  /**
   * Notes a call before it is made. Throws `overloaded` while rows cannot be stored. Resolves once
   * the note is written; when it cannot be, `withdraw` is called, and it rejects with `overloaded`.
   */
  note(call: NotedCall, withdraw: () => void): Promise<void> {
    this.check();
    return this.#outbox.note(call, withdraw);
  }

  /**
   * Makes rows durable. Rejects with `Error` when it keeps them in memory; it then stores them
   * later.
   */
  record(rows: readonly SpendRow[]): Promise<void> {
    if (this.#fault === undefined) return this.#outbox.append(rows);
    this.#outbox.keep(rows);
    return Promise.reject(ledgerUnavailable());
  }

  /** Stops the checks. A second call has no effect. */
  stop(): void {
    this.#isEnded = true;
    clearTimeout(this.#timer);
  }

  #arm(): void {
    if (this.#isEnded) return;
    this.#timer = setTimeout(() => void this.#look().finally(() => this.#arm()), LOOK_MS);
    this.#timer.unref();
  }

  /** Checks every place. When the fault of all places has passed, writes the kept rows. */
  async #look(): Promise<void> {
    for (const [place, look] of Object.entries(this.#places)) {
      const text = await look();
      if (this.#isEnded) return;
      if (text !== undefined) {
        this.#begin(place, text);
        return;
      }
    }
    if (this.#fault === undefined) return;
    try {
      this.#outbox.writeKept();
    } catch (error) {
      this.#failed(error);
      return;
    }
    const { place, sinceMs } = this.#fault;
    this.#log.info("spend rows can be stored again", {
      place,
      outage_ms: Math.round(this.#clock.monotonic() - sinceMs),
      refused: this.#refused,
    });
    this.#fault = undefined;
    this.#refused = 0;
  }

  #failed(error: unknown): void {
    // A missing file is a better explanation than the error of a write.
    if (this.#fault !== undefined) return;
    const reason = errorMessage(error);
    this.#begin(
      "outbox",
      `The outbox does not take spend rows: ${reason}. Look at the disk of the data folder.`,
    );
  }

  /** Logs one line for each fault. The refused requests have no lines. */
  #begin(place: string, text: string): void {
    const before = this.#fault;
    if (before?.place === place) {
      if (before.text !== text) this.#fault = { ...before, text };
      return;
    }
    this.#fault = { place, text, sinceMs: before?.sinceMs ?? this.#clock.monotonic() };
    this.#log.error(
      "spend rows cannot be stored; requests are refused before any upstream is called",
      { place, reason: text },
    );
  }
}

/** Refusals of the guard: the log has one line for all of them. */
const refusals = new WeakSet<Error>();

/** Whether an error is a refusal of the guard. */
export function isLedgerRefusal(error: Error): boolean {
  return refusals.has(error);
}

/**
 * The refusal, as a client reads it. It is not retryable: every other call would be refused as
 * well.
 */
export function ledgerUnavailable(cause?: unknown): GatewayError {
  const error = new GatewayError(
    "overloaded",
    "The gateway cannot store spend rows now. Retry after the time in retry-after.",
    {
      retryable: false,
      retryAfterMs: 5_000,
      ...(cause !== undefined && { cause }),
    },
  );
  refusals.add(error);
  return error;
}
