/** A ledger store in memory, with failures on demand. */

import type { LedgerStore, SpendRow } from "@sluice/contract";

/** The store and what a test sees of it. */
export interface MemoryStore extends LedgerStore {
  /** By `requestId:attempt`, in order of arrival. */
  readonly kept: ReadonlyMap<string, SpendRow>;
  /** How many rows came with each call that succeeded. */
  readonly transactions: readonly number[];
  /** Calls of `insert`, with those that failed. */
  readonly calls: number;
  /**
   * The next `times` inserts throw; `afterwards` says that the rows are kept all the same, as when
   * only the reply is lost.
   */
  failNext(times: number, afterwards?: boolean): void;
}

/** Makes an empty store. */
export function createMemoryStore(): MemoryStore {
  const kept = new Map<string, SpendRow>();
  const transactions: number[] = [];
  let calls = 0;
  let failures = 0;
  let failsAfterwards = false;

  const keep = (rows: readonly SpendRow[]): void => {
    transactions.push(rows.length);
    for (const row of rows) {
      const id = `${row.requestId}:${row.attempt}`;
      if (!kept.has(id)) kept.set(id, row);
    }
  };

  return {
    kept,
    transactions,
    get calls() {
      return calls;
    },
    failNext(times, afterwards = false) {
      failures = times;
      failsAfterwards = afterwards;
    },
    async insert(rows) {
      calls++;
      if (failures > 0) {
        failures--;
        if (failsAfterwards) keep(rows);
        throw new Error("the store is away");
      }
      keep(rows);
    },
    rows: async (query) => [...kept.values()].toReversed().slice(0, query.limit),
    days: async () => [],
    tags: async () => [],
    report: async () => [],
    uses: async () => [],
    spent: async () =>
      [...kept.values()].reduce((sum, { costNanoUsd }) => sum + (costNanoUsd ?? 0), 0),
  };
}
