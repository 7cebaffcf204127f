/**
 * The ledger: writes rows to the outbox at once and to the store soon after, and reads them from
 * the store.
 */

import {
  type Clock,
  GatewayError,
  type GuardrailDayQuery,
  type LedgerReader,
  type LedgerStore,
  type Log,
  type SpendRow,
} from "@sluice/contract";
import type { NotedCall } from "../outbox/note-text.ts";
import type { LedgerFault, LedgerGuard } from "./guard.ts";
import { Relay } from "../outbox/relay.ts";
import type { Outbox } from "../outbox/outbox.ts";
import { RefusalRows } from "./refusal-rows.ts";

/** How long a reader waits for the rows that were recorded before it asked, in milliseconds. */
const READ_WAIT_MS = 500;
/** The same of a sum of money, while the store takes rows. */
const SUM_WAIT_MS = 5_000;

/** The parts of a ledger. The store is started before, and stays open until `stop` has resolved. */
export interface LedgerOptions {
  readonly outbox: Outbox;
  readonly store: LedgerStore;
  readonly log: Log;
  readonly clock: Clock;
  /** Absent: rows of other processes are moved, and none are recorded. */
  readonly guard?: LedgerGuard;
}

/** The health of the ledger. */
export interface LedgerHealth {
  /** Batches in the outbox that the store does not have yet. */
  readonly pendingBatches: number;
  /** Whether the store refused the last rows. They are retried. */
  readonly isStoreFailing: boolean;
  /** How long rows have been waiting for the store, in milliseconds; 0 when it has all of them. */
  readonly lagMs: number;
  /** The fault for which requests are refused; `undefined` while rows can be stored. */
  readonly fault: LedgerFault | undefined;
  /** Rows in memory that the outbox did not take. */
  readonly keptRows: number;
}

/** The ledger as requests use it. */
export interface RequestLedger {
  /**
   * Resolves once the rows outlive the process; refused requests beyond a rate are counted in
   * memory and written when the minute ends. Rejects with `Error` when the outbox cannot take them
   * yet; it has them in time.
   */
  record(rows: readonly SpendRow[]): Promise<void>;
  /** Throws `overloaded` while rows cannot be stored. */
  check(): void;
  /**
   * Notes a call before it is made, for its row if the process is killed. Throws `overloaded` while
   * rows cannot be stored. Resolves once the note is written; when it cannot be, `withdraw` is
   * called, and it rejects with `overloaded`. `undefined`: the caller does not wait.
   */
  note(call: NotedCall, withdraw: () => void): Promise<void> | undefined;
}

/**
 * Spend rows, recorded and read. Every row is in the store exactly once in the end, whatever
 * process or store does. A reader has the rows that were recorded before the call: it waits for
 * them up to 500 ms. A sum waits up to 5 s, and is refused without them.
 */
export interface Ledger extends LedgerReader, RequestLedger, Pick<LedgerStore, "uses"> {
  note(...call: Parameters<RequestLedger["note"]>): Promise<void>;
  /**
   * Writes the refused requests that are counted together. From here on each has a row of its own.
   */
  settleRefusals(): void;
  /**
   * Resolves once everything recorded so far is in the store. Rejects with the signal's reason when
   * it is aborted, with `Error` when the ledger stops before. While the store fails it waits.
   */
  flush(signal?: AbortSignal): Promise<void>;
  health(): LedgerHealth;
  /**
   * Ends the moving. Rows may still be recorded; the next process moves them. The outbox and the
   * store stay open.
   */
  stop(): Promise<void>;
}

/** Makes the ledger, and begins at once to move what an earlier process left in the outbox. */
export function createLedger(options: LedgerOptions): Ledger {
  const { outbox, store, guard } = options;
  const relay = new Relay(options);
  relay.notice();

  const write = (rows: readonly SpendRow[]): Promise<void> => {
    const committed = guard === undefined ? outbox.append(rows) : guard.record(rows);
    relay.notice(rows.length);
    return committed;
  };
  const refusals = new RefusalRows(options.clock, (rows) => {
    // Rows that cannot be written are kept; the guard has reported why.
    write(rows).catch(() => undefined);
  });

  return {
    record: (rows) => (refusals.takes(rows) ? Promise.resolve() : write(rows)),
    settleRefusals: () => refusals.stop(),
    check: () => guard?.check(),
    note: (call, withdraw) => (guard ?? outbox).note(call, withdraw),
    flush: (signal) => relay.flush(signal),
    ...caughtUp(store, relay),
    async spent(filter, signal) {
      if (outbox.keptRows > 0) throw unreadable();
      // Money that is not in the sum could be spent a second time.
      if (relay.hasWork && !(await isCaughtUp(relay, SUM_WAIT_MS))) throw unreadable();
      return store.spent(filter, signal);
    },
    health: () => ({
      pendingBatches: outbox.pendingBatches,
      isStoreFailing: relay.isFailing,
      lagMs: relay.lagMs,
      fault: guard?.fault,
      keptRows: outbox.keptRows,
    }),
    stop() {
      refusals.stop();
      guard?.stop();
      return relay.stop();
    },
  };
}

/** Reports, made when the store has what was recorded before they were asked for. */
function caughtUp(
  store: LedgerStore,
  relay: Relay,
): Omit<LedgerReader, "spent"> & Pick<LedgerStore, "uses"> {
  const catchUp = async (): Promise<void> => {
    if (relay.hasWork) await isCaughtUp(relay, READ_WAIT_MS);
  };
  return {
    async rows(query, signal) {
      await catchUp();
      return store.rows(query, signal);
    },
    async days(filter, signal) {
      await catchUp();
      return store.days(filter, signal);
    },
    async tags(filter, signal) {
      await catchUp();
      return store.tags(filter, signal);
    },
    async report(query, signal) {
      await catchUp();
      return store.report(query, signal);
    },
    ...(store.guardrails !== undefined && {
      async guardrails(query: GuardrailDayQuery, signal?: AbortSignal) {
        await catchUp();
        return (await store.guardrails?.(query, signal)) ?? [];
      },
    }),
    async uses(keys, signal) {
      await catchUp();
      return store.uses(keys, signal);
    },
  };
}

function unreadable(): GatewayError {
  return new GatewayError(
    "overloaded",
    "The gateway cannot read the spend now. Retry after the time in retry-after.",
    {
      retryAfterMs: 5_000,
    },
  );
}

/**
 * Waits for the rows that were recorded before the call. Resolves with whether the store has them:
 * not after `maxMs`, and not while the store refuses rows.
 */
async function isCaughtUp(relay: Relay, maxMs: number): Promise<boolean> {
  const deadline = new AbortController();
  let leftMs = maxMs;
  const timer = setInterval(() => {
    leftMs -= READ_WAIT_MS;
    if (leftMs <= 0 || relay.isFailing) deadline.abort();
  }, READ_WAIT_MS);
  try {
    await relay.flush(deadline.signal);
    return true;
  } catch {
    // The deadline passed or the ledger stopped.
    return false;
  } finally {
    clearInterval(timer);
  }
}
