/** Teams at rest. */

import type { TeamRecord, TeamStore } from "@sluice/contract";
import type { Kysely } from "kysely";
import { limitColumns, limitMembers, present } from "./limits.ts";
import type { Schema, TeamTable } from "./schema.ts";
import { withoutNul } from "./text.ts";

/**
 * Makes the team store: `database` reads, `writer` changes. Both are asked at every call, because
 * the file opens after this is made.
 */
export function createTeamStore(
  database: () => Kysely<Schema>,
  writer: () => Kysely<Schema> = database,
): TeamStore {
  const reads = teamReads(database);
  return { ...reads, ...teamWrites(writer, reads.find) };
}

type Reads = "find" | "list";

function teamReads(database: () => Kysely<Schema>): Pick<TeamStore, Reads> {
  return {
    async find(id) {
      const row = await database()
        .selectFrom("team")
        .selectAll()
        .where("id", "=", id)
        .executeTakeFirst();
      return row && toRecord(row);
    },
    async list() {
      const rows = await database()
        .selectFrom("team")
        .selectAll()
        .orderBy("created_at_ms")
        .orderBy("id")
        .execute();
      return rows.map(toRecord);
    },
  };
}

function teamWrites(
  writer: () => Kysely<Schema>,
  find: TeamStore["find"],
): Omit<Required<TeamStore>, Reads> {
  return {
    async insert(team) {
      const added = await writer()
        .insertInto("team")
        .values(rowOf(team, null))
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst();
      return added.numInsertedOrUpdatedRows !== 0n;
    },
    async update(id, changes) {
      const columns = { ...limitColumns(changes), ...present({ managed_by: changes.managedBy }) };
      if (Object.keys(columns).length === 0) return find(id);
      const row = await writer()
        .updateTable("team")
        .set(columns)
        .where("id", "=", id)
        .returningAll()
        .executeTakeFirst();
      return row && toRecord(row);
    },
    async declare(team) {
      const changed = limitColumns(team);
      await writer()
        .insertInto("team")
        .values(rowOf(team, "file"))
        .onConflict((conflict) =>
          conflict.column("id").doUpdateSet(changed).where("team.managed_by", "=", "file"),
        )
        .execute();
    },
    // A trigger deletes the team's keys within the same statement.
    async delete(id) {
      const result = await writer().deleteFrom("team").where("id", "=", id).executeTakeFirst();
      return result.numDeletedRows > 0n;
    },
  };
}

function rowOf(team: TeamRecord, managedBy: string | null): TeamTable {
  return {
    id: withoutNul(team.id),
    created_at_ms: team.createdAtMs,
    managed_by: managedBy,
    ...limitColumns(team),
  } as TeamTable;
}

function toRecord(row: TeamTable): TeamRecord {
  const managedBy = row.managed_by === "file" ? ({ managedBy: "file" } as const) : {};
  return { id: row.id, ...limitMembers(row), ...managedBy, createdAtMs: row.created_at_ms };
}
