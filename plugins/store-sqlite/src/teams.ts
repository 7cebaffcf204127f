/** Teams at rest. */

import type { TeamRecord, TeamStore } from "@sluice/contract";
import type { Kysely } from "kysely";
import { limitColumns, limitMembers } from "./limits.ts";
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
  const find = async (id: string): Promise<TeamRecord | undefined> => {
    const row = await database()
      .selectFrom("team")
      .selectAll()
      .where("id", "=", id)
      .executeTakeFirst();
    return row && toRecord(row);
  };

  return {
    find,
    async list() {
      const rows = await database()
        .selectFrom("team")
        .selectAll()
        .orderBy("created_at_ms")
        .orderBy("id")
        .execute();
      return rows.map(toRecord);
    },
    async insert(team) {
      const row = {
        id: withoutNul(team.id),
        created_at_ms: team.createdAtMs,
        ...limitColumns(team),
      } as TeamTable;
      const added = await writer()
        .insertInto("team")
        .values(row)
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst();
      return added.numInsertedOrUpdatedRows !== 0n;
    },
    async update(id, changes) {
      const columns = limitColumns(changes);
      if (Object.keys(columns).length === 0) return find(id);
      const row = await writer()
        .updateTable("team")
        .set(columns)
        .where("id", "=", id)
        .returningAll()
        .executeTakeFirst();
      return row && toRecord(row);
    },
    // A trigger deletes the team's keys within the same statement.
    async delete(id) {
      const result = await writer().deleteFrom("team").where("id", "=", id).executeTakeFirst();
      return result.numDeletedRows > 0n;
    },
  };
}

function toRecord(row: TeamTable): TeamRecord {
  return { id: row.id, ...limitMembers(row), createdAtMs: row.created_at_ms };
}
