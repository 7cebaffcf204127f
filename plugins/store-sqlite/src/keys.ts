/** Virtual keys at rest. */

import {
  errorMessage,
  type KeyChanges,
  type KeyConflict,
  type KeyQuery,
  type KeyRecord,
  type KeyStore,
  type SpendScope,
} from "@sluice/contract";
import type { CompiledQuery, Kysely } from "kysely";
import { limitColumns, limitMembers, nullableText, present } from "./limits.ts";
import type { KeyTable, Schema } from "./schema.ts";
import { withoutNul } from "./text.ts";

/**
 * Makes the key store: `database` reads, `writer` changes. Both are resolved at every call, because
 * the file opens after this call. Indexes and triggers of the file enforce unique values and
 * existing teams: no other writer can act between a check and a write.
 */
export function createKeyStore(
  database: () => Kysely<Schema>,
  writer: () => Kysely<Schema> = database,
): KeyStore {
  const reads = keyReads(database);
  return { ...reads, ...keyWrites(writer, reads.find), ...digestWrites(writer) };
}

type Reads = "find" | "findByDigest" | "wasImported" | "list" | "ownedTags";

function keyReads(database: () => Kysely<Schema>): Required<Pick<KeyStore, Reads>> {
  let byDigest: CompiledQuery<KeyTable> | undefined;
  return {
    async find(id) {
      const row = await database()
        .selectFrom("virtual_key")
        .selectAll()
        .where("id", "=", id)
        .executeTakeFirst();
      return row && toRecord(row);
    },
    async findByDigest(digest, other = digest) {
      // Each key that is not remembered asks for it, and to build it costs more than to run it.
      const digests = [digest, other];
      byDigest ??= database()
        .selectFrom("virtual_key")
        .selectAll()
        .where((at) => at.or([at("digest", "in", digests), at("previous_digest", "in", digests)]))
        .compile();
      const { rows } = await database().executeQuery<KeyTable>({
        ...byDigest,
        parameters: [...digests, ...digests],
      });
      const [row] = rows;
      return row && toRecord(row);
    },
    async wasImported(id) {
      const row = await database()
        .selectFrom("imported_key")
        .select("id")
        .where("id", "=", id)
        .executeTakeFirst();
      return row !== undefined;
    },
    async list(query) {
      const { total } = await matching(database(), query)
        .select(({ fn }) => fn.countAll<number>().as("total"))
        .executeTakeFirstOrThrow();
      const rows = await matching(database(), query)
        .selectAll()
        .orderBy("created_at_ms")
        .orderBy("id")
        .limit(query.limit)
        .offset(query.offset)
        .execute();
      return { keys: rows.map(toRecord), total };
    },
    async ownedTags(tags) {
      if (tags.length === 0) return [];
      const rows = await database()
        .selectFrom("owned_tag")
        .select("tag")
        .distinct()
        .where("tag", "in", tags)
        .execute();
      return rows.map(({ tag }) => tag);
    },
  };
}

type DigestWrites = "rotate" | "replaceDigest";

function digestWrites(writer: () => Kysely<Schema>): Required<Pick<KeyStore, DigestWrites>> {
  return {
    async rotate(id, { digest, last4, previousUntilMs }) {
      const row = await writer()
        .updateTable("virtual_key")
        .set(({ ref }) => ({
          digest,
          last4,
          // On the right stands the row as it was, so a rotation in between is not lost.
          previous_digest: previousUntilMs === null ? null : ref("digest"),
          previous_until_ms: previousUntilMs,
        }))
        .where("id", "=", id)
        .returningAll()
        .executeTakeFirst();
      return row && toRecord(row);
    },
    async replaceDigest(id, from, { digest, last4 }) {
      await writer()
        .updateTable("virtual_key")
        .set((at) => ({
          digest: at.case().when("digest", "=", from).then(digest).else(at.ref("digest")).end(),
          last4: at.case().when("digest", "=", from).then(last4).else(at.ref("last4")).end(),
          previous_digest: at
            .case()
            .when("previous_digest", "=", from)
            .then(digest)
            .else(at.ref("previous_digest"))
            .end(),
        }))
        .where("id", "=", id)
        .where((at) => at.or([at("digest", "=", from), at("previous_digest", "=", from)]))
        .execute();
    },
  };
}

function keyWrites(
  writer: () => Kysely<Schema>,
  find: KeyStore["find"],
): Omit<KeyStore, Reads | DigestWrites> {
  return {
    async insert(key) {
      const row = { ...toColumns(key), ...rowOf(key) } as KeyTable;
      try {
        await writer().insertInto("virtual_key").values(row).execute();
        return "added";
      } catch (error) {
        return conflictOf(error);
      }
    },
    async update(id, changes) {
      const columns = toColumns(changes);
      if (Object.keys(columns).length === 0) return find(id);
      try {
        const row = await writer()
          .updateTable("virtual_key")
          .set(columns)
          .where("id", "=", id)
          .returningAll()
          .executeTakeFirst();
        return row && toRecord(row);
      } catch (error) {
        return conflictOf(error);
      }
    },
    async delete(id) {
      const result = await writer()
        .deleteFrom("virtual_key")
        .where("id", "=", id)
        .executeTakeFirst();
      return result.numDeletedRows > 0n;
    },
  };
}

function matching(database: Kysely<Schema>, { userId, teamId, alias }: KeyQuery) {
  return database
    .selectFrom("virtual_key")
    .$if(userId !== undefined, (query) => query.where("user_id", "=", userId ?? ""))
    .$if(teamId !== undefined, (query) => query.where("team_id", "=", teamId ?? ""))
    .$if(alias !== undefined, (query) => query.where("alias", "=", alias ?? ""));
}

/** SQLITE_CONSTRAINT with its extension (https://sqlite.org/rescode.html). */
const CONFLICTS: ReadonlyMap<unknown, KeyConflict> = new Map([
  [1555, "taken"], // PRIMARYKEY
  [2067, "taken"], // UNIQUE
  [1811, "no-team"], // TRIGGER
]);
/** What the trigger for keys that were imported before raises. */
const IMPORTED = "imported";

function conflictOf(error: unknown): KeyConflict {
  const conflict =
    error instanceof Error && "errcode" in error ? CONFLICTS.get(error.errcode) : undefined;
  if (conflict === undefined) throw error;
  return conflict === "no-team" && errorMessage(error) === IMPORTED ? "imported" : conflict;
}

function toColumns(key: KeyChanges): Partial<KeyTable> {
  return {
    ...limitColumns(key),
    ...present({
      expires_at_ms: key.expiresAtMs,
      spend_scope: key.spendScope,
      user_id: nullableText(key.userId),
      team_id: nullableText(key.teamId),
    }),
  };
}

/** The columns that are written when a key is made, and by no update. */
function rowOf(key: KeyRecord): Partial<KeyTable> {
  return {
    id: withoutNul(key.id),
    digest: key.digest,
    last4: key.last4,
    previous_digest: key.previousDigest,
    previous_until_ms: key.previousUntilMs,
    created_at_ms: key.createdAtMs,
  };
}

function toRecord(row: KeyTable): KeyRecord {
  return {
    id: row.id,
    digest: row.digest,
    last4: row.last4,
    previousDigest: row.previous_digest,
    previousUntilMs: row.previous_until_ms,
    ...limitMembers(row),
    expiresAtMs: row.expires_at_ms,
    spendScope: row.spend_scope as SpendScope,
    userId: row.user_id,
    teamId: row.team_id,
    createdAtMs: row.created_at_ms,
  };
}
