/** The use of keys: what each has spent since a time, and when it was used last. */

import type { KeyUse, KeyUseQuery } from "@sluice/contract";
import type { DatabaseSync } from "node:sqlite";
import { createStatementCache } from "./filter.ts";
import { createLedgerSum } from "./sum.ts";

/** Its index, by key and time, ends with its newest row. */
const NEWEST = "select max(started_at_ms) as at_ms from ledger where key_id = ?";

/** Makes the reader of an open database. It yields empty batches while it adds up. */
export function createKeyUses(
  database: DatabaseSync,
): (keys: readonly KeyUseQuery[]) => Generator<readonly KeyUse[]> {
  const sum = createLedgerSum(database);
  const prepare = createStatementCache((sql) => database.prepare(sql));
  return function* (keys) {
    for (const { keyId, fromMs, tag } of keys) {
      let costNanoUsd = 0;
      const filters = [{ keyId, fromMs }, ...(tag === undefined ? [] : [{ tag, fromMs }])];
      for (const filter of filters)
        for (const [cost] of sum(filter)) {
          costNanoUsd += cost ?? 0;
          yield [];
        }
      const lastUsedAtMs = prepare(NEWEST).get(keyId)?.["at_ms"];
      yield [{ keyId, costNanoUsd, lastUsedAtMs: (lastUsedAtMs as number | null) ?? null }];
    }
  };
}
