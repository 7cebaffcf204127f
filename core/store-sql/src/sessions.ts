/** Sessions of browsers at rest. */

import type { SessionRecord, SessionStore } from "@sluice/contract";
import type { Kysely } from "kysely";
import type { Schema, SessionTable } from "./schema.ts";

/** The open database: asked at every call. */
interface SessionPlace {
  readonly database: () => Kysely<Schema>;
  readonly writer: () => Kysely<Schema>;
}

/** Makes the store of sessions. Each write is one statement. */
export function createSessionStore({ database, writer }: SessionPlace): SessionStore {
  return {
    async insert(record) {
      await writer().insertInto("admin_session").values(toRow(record)).execute();
    },
    async find(digest) {
      const row = await database()
        .selectFrom("admin_session")
        .selectAll()
        .where("digest", "=", digest)
        .executeTakeFirst();
      return row && toRecord(row);
    },
    async seen(digest, atMs) {
      await writer()
        .updateTable("admin_session")
        .set({ seen_at_ms: atMs })
        .where("digest", "=", digest)
        .where("seen_at_ms", "<", atMs)
        .execute();
    },
    async take(digest) {
      const row = await writer()
        .deleteFrom("admin_session")
        .where("digest", "=", digest)
        .returningAll()
        .executeTakeFirst();
      return row && toRecord(row);
    },
    async list(limit) {
      const rows = await database()
        .selectFrom("admin_session")
        .selectAll()
        .where("kind", "=", "session")
        .orderBy("created_at_ms", "desc")
        .orderBy("digest")
        .limit(limit)
        .execute();
      return rows.map(toRecord);
    },
    async expire(nowMs, idleSinceMs) {
      await writer()
        .deleteFrom("admin_session")
        .where((at) =>
          at.or([at("expires_at_ms", "<=", nowMs), at("seen_at_ms", "<", idleSinceMs)]),
        )
        .execute();
    },
  };
}

function toRow(record: SessionRecord): SessionTable {
  return {
    digest: record.digest,
    id: record.id,
    kind: record.kind,
    actor: record.actor,
    credential: record.credential,
    master: record.master,
    address: record.address,
    created_at_ms: record.createdAtMs,
    seen_at_ms: record.seenAtMs,
    expires_at_ms: record.expiresAtMs,
  };
}

function toRecord(row: SessionTable): SessionRecord {
  return {
    digest: row.digest,
    id: row.id,
    kind: row.kind === "code" ? "code" : "session",
    actor: row.actor,
    credential: row.credential,
    master: row.master,
    address: row.address,
    createdAtMs: row.created_at_ms,
    seenAtMs: row.seen_at_ms,
    expiresAtMs: row.expires_at_ms,
  };
}
