/** Deletes old lines of the audit. The chain begins later then, and says so itself. */

import type { AuditEntry, AuditLine } from "@sluice/contract";
import type { Kysely } from "kysely";
import type { Schema } from "./schema.ts";

/** Lines that one transaction deletes. */
const MAX_LINES = 5_000;

/** Where lines are read, and deleted with a line about it. */
export interface PrunePlace {
  readonly database: () => Kysely<Schema>;
  /** Writes in one transaction with a line of the audit. */
  readonly audited: (entry: AuditEntry) => Kysely<Schema>;
}

/** What is deleted: all lines up to one. */
export type Pruned = Pick<AuditLine, "seq" | "hash">;

/**
 * Deletes lines from before a time, from the first one on, and writes the line that `entryOf` makes
 * of the last one. A line that is younger keeps those behind it. Returns how many.
 */
export async function pruneAudit(
  { database, audited }: PrunePlace,
  beforeMs: number,
  entryOf: (last: Pruned) => AuditEntry,
): Promise<number> {
  const first = await lineWhere(database(), 0, "asc");
  if (first === undefined || first.at_ms >= beforeMs) return 0;
  const kept = await database()
    .selectFrom("audit")
    .select("seq")
    .where("at_ms", ">=", beforeMs)
    .orderBy("seq")
    .limit(1)
    .executeTakeFirst();
  const head = await lineWhere(database(), 0, "desc");
  // The last line stays: the next one continues its chain.
  const end = Math.min(kept?.seq ?? Infinity, head?.seq ?? 0, first.seq + MAX_LINES);
  const last = await lineWhere(database(), end, "desc");
  if (last === undefined) return 0;
  const { numDeletedRows } = await audited(entryOf({ seq: last.seq, hash: last.hash }))
    .deleteFrom("audit")
    .where("seq", "<=", last.seq)
    .executeTakeFirst();
  return Number(numDeletedRows);
}

/** The first or the last line, or the last one before another. */
function lineWhere(database: Kysely<Schema>, before: number, order: "asc" | "desc") {
  return database
    .selectFrom("audit")
    .select(["seq", "hash", "at_ms"])
    .$if(before > 0, (query) => query.where("seq", "<", before))
    .orderBy("seq", order)
    .limit(1)
    .executeTakeFirst();
}
