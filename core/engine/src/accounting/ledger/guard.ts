/** The guard of the ledger: knows whether spend rows can be stored, before an upstream is called for one. */

import { errorMessage, GatewayError, type Clock, type Log, type SpendRow } from "@sluice/contract";
import type { NotedCall } from "../outbox/call-note-line.ts";
import type { Outbox } from "../outbox/outbox.ts";

/** How often everything is looked at, and how often writing is tried again. */
const LOOK_MS = 1_000;

/** What cannot be stored to, at present. */
export interface LedgerFault {
  /** `data_folder`, `disk`, `outbox` or `store`. */
  readonly place: string;
  /** What it is and what to do, for the operator. */
  readonly text: string;
  readonly sinceMs: number;
}

/** Looks at a place once a second. Returns what is wrong there, in a sentence; `undefined` while nothing is. */
export type LookAtPlace = () => string | undefined | Promise<string | undefined>;

/** What a guard needs. */
export interface LedgerGuardOptions {
  readonly outbox: Outbox;
  /** Places that rows depend on, by name, the most telling first. */
  readonly places: Readonly<Record<string, LookAtPlace>>;
  readonly log: Log;
  readonly clock: Clock;
}

/** A guard at work. While there is a fault no row is written, and none is lost: rows are kept in memory until it has passed. */
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
    if (outbox.notes !== undefined) {
      outbox.notes.onFailure = (cause) => {
        this.#failed(cause);
        return ledgerUnavailable(cause);
      };
    }
    this.#arm();
  }

  /** What is wrong; `undefined` while rows can be stored. */
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
   * Notes a call before it is made. Throws `overloaded` while rows cannot be stored. Resolves once the note is written; when it
   * cannot be, `withdraw` is called, and it rejects with `overloaded`.
   */
  note(call: NotedCall, withdraw: () => void): Promise<void> {
    this.check();
    return this.#outbox.note(call, withdraw);
  }

  /** Makes rows durable. Rejects with `Error` when they are kept in memory instead; they are then stored later, by themselves. */
  record(rows: readonly SpendRow[]): Promise<void> {
    if (this.#fault === undefined) return this.#outbox.append(rows);
    this.#outbox.keep(rows);
    return Promise.reject(ledgerUnavailable());
  }

  /** Ends the looking. Safe twice. */
  stop(): void {
    this.#isEnded = true;
    clearTimeout(this.#timer);
  }

  #arm(): void {
    if (this.#isEnded) return;
    this.#timer = setTimeout(() => void this.#look().finally(() => this.#arm()), LOOK_MS);
    this.#timer.unref();
  }

  /** Looks at every place; while there is a fault and all places are well, writes what was kept. */
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
    // What has pulled the file away is a better word than what SQLite says of it.
    if (this.#fault !== undefined) return;
    const reason = errorMessage(error);
    this.#begin("outbox", `The outbox does not take spend rows: ${reason}. Look at the disk of the data folder.`);
  }

  /** One line for each fault: the requests that it refuses have none of their own. */
  #begin(place: string, text: string): void {
    const before = this.#fault;
    if (before?.place === place) {
      if (before.text !== text) this.#fault = { ...before, text };
      return;
    }
    this.#fault = { place, text, sinceMs: before?.sinceMs ?? this.#clock.monotonic() };
    this.#log.error("spend rows cannot be stored; requests are refused before any upstream is called", { place, reason: text });
  }
}

/** Refusals of the guard: the log has one line for all of them. */
const refusals = new WeakSet<Error>();

/** Whether an error is a refusal of the guard. */
export function isLedgerRefusal(error: Error): boolean {
  return refusals.has(error);
}

/** The refusal, as a client reads it. It is not retryable: every other call would be refused as well. */
export function ledgerUnavailable(cause?: unknown): GatewayError {
  const error = new GatewayError("overloaded", "The gateway cannot store spend rows at the moment.", {
    retryable: false,
    retryAfterMs: 5_000,
    ...(cause !== undefined && { cause }),
  });
  refusals.add(error);
  return error;
}
