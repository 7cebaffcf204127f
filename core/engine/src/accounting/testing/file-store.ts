/** A ledger store in a file, for tests in which processes are killed. */

import type { LedgerStore } from "@sluice/contract";
import { DatabaseSync } from "node:sqlite";

/** The store and what a test sees of it. */
export interface FileStore extends LedgerStore {
  /** How often each request id is there. */
  counts(): ReadonlyMap<string, number>;
  close(): void;
}

/** Opens the file, or makes it. */
export function openFileStore(path: string): FileStore {
  const database = new DatabaseSync(path, { timeout: 2_000 });
  database.exec(
    "pragma journal_mode = wal; create table if not exists seen (id text, attempt integer, unique (id, attempt))",
  );
  const insert = database.prepare("insert or ignore into seen values (?, ?)");
  return {
    async insert(rows) {
      database.exec("begin");
      for (const row of rows) insert.run(row.requestId, row.attempt);
      database.exec("commit");
    },
    rows: async () => [],
    days: async () => [],
    tags: async () => [],
    report: async () => [],
    spent: async () => 0,
    uses: async () => [],
    counts() {
      const rows = database.prepare("select id, count(*) as times from seen group by id").all();
      return new Map(rows.map((row) => [String(row["id"]), Number(row["times"])]));
    },
    close: () => database.close(),
  };
}
