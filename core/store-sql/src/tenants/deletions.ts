/** Deletions: a record goes together with its keys, or not at all. */

import type { Deletion } from "@sluice/contract";
import type { Compilable } from "kysely";
import { conflictOf } from "./conflicts.ts";
import type { Condition } from "./shape.ts";
import type { AnyTables, Place } from "./table.ts";

/** The statement that deletes or blocks keys, and returns their ids. */
export function deleteOrBlock(
  writer: AnyTables,
  which: Condition,
  keys: "delete" | "block",
): Compilable<unknown> {
  if (keys === "delete") return writer.deleteFrom("virtual_key").where(which).returning("id");
  return writer.updateTable("virtual_key").set({ blocked: 1 }).where(which).returning("id");
}

const REASONS = ["referenced", "missing", "alias", "border"] as const;

/** Runs the statement for the keys, if there is one, and the deletion in one transaction. */
export async function deleted(
  { transact, refusalOf }: Place,
  keys: Compilable<unknown> | undefined,
  record: Compilable<unknown>,
): Promise<Deletion> {
  const statements = keys === undefined ? [record] : [keys, record];
  try {
    const results = await transact(statements.map((statement) => statement.compile()));
    const isDeleted = (results.at(-1)?.changes ?? 0) > 0;
    const ids = keys === undefined ? [] : (results[0]?.rows ?? []);
    return {
      outcome: isDeleted ? "deleted" : "absent",
      keys: ids.map((row) => (row as { readonly id: string }).id),
    };
  } catch (error) {
    const reason = conflictOf(error, refusalOf, [...REASONS, "no-team"]);
    return { outcome: reason === "no-team" ? "missing" : reason, keys: [] };
  }
}
