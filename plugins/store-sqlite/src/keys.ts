/** Virtual keys at rest. */

import type { KeyRecord, KeyStore } from "@sluice/spec";
import type { Kysely } from "kysely";
import { limitColumns, limitMembers, nullableText, present } from "./limits.ts";
import type { KeyTable, Schema } from "./schema.ts";
import { readList, toJsonText, withoutNul } from "./text.ts";

/**
 * Makes the key store. `database` is asked at every call, because the file opens after this is made.
 * `insert` throws `Error` when the id or the digest is taken.
 */
export function createKeyStore(database: () => Kysely<Schema>): KeyStore {
  const findBy = async (column: "id" | "digest", value: string): Promise<KeyRecord | undefined> => {
    const row = await database().selectFrom("virtual_key").selectAll().where(column, "=", value).executeTakeFirst();
    return row && toRecord(row);
  };

  return {
    findByDigest: (digest) => findBy("digest", digest),
    find: (id) => findBy("id", id),
    async list() {
      const rows = await database().selectFrom("virtual_key").selectAll().orderBy("created_at_ms").orderBy("id").execute();
      return rows.map(toRecord);
    },
    async insert(key) {
      const row = { id: withoutNul(key.id), created_at_ms: key.createdAtMs, ...toColumns(key) } as KeyTable;
      const added = await database()
        .insertInto("virtual_key")
        .values(row)
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst();
      if (added.numInsertedOrUpdatedRows === 0n) throw new Error(`a key with the id ${row.id} or the same digest exists`);
    },
    async update(id, changes) {
      const columns = toColumns(changes);
      if (Object.keys(columns).length === 0) return findBy("id", id);
      const row = await database().updateTable("virtual_key").set(columns).where("id", "=", id).returningAll().executeTakeFirst();
      return row && toRecord(row);
    },
    async delete(id) {
      const result = await database().deleteFrom("virtual_key").where("id", "=", id).executeTakeFirst();
      return result.numDeletedRows > 0n;
    },
  };
}

function toColumns(key: Partial<KeyRecord>): Partial<KeyTable> {
  return {
    ...limitColumns(key),
    ...present({
      digest: key.digest,
      last4: key.last4,
      expires_at_ms: key.expiresAtMs,
      guardrails: key.guardrails && toJsonText(key.guardrails),
      user_id: nullableText(key.userId),
      team_id: nullableText(key.teamId),
    }),
  };
}

function toRecord(row: KeyTable): KeyRecord {
  return {
    id: row.id,
    digest: row.digest,
    last4: row.last4,
    ...limitMembers(row),
    expiresAtMs: row.expires_at_ms,
    guardrails: readList(row.guardrails),
    userId: row.user_id,
    teamId: row.team_id,
    createdAtMs: row.created_at_ms,
  };
}
