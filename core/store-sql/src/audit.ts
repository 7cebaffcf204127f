/** Reads the audit. */

import type { AuditLine, AuditOutcome, AuditQuery, AuditStore, JsonObject } from "@sluice/contract";
import type { Kysely } from "kysely";
import { parseJson } from "@sluice/kit";
import type { AuditTable, Schema } from "./schema.ts";
import { anyOf, isOneOf } from "./tenants/shape.ts";

/** The reading part of the stored audit. `database` is asked at every call. */
export function auditReads(database: () => Kysely<Schema>): Pick<AuditStore, "list" | "head"> {
  return {
    async list(query) {
      const rows = await matching(database(), query)
        .selectAll()
        .orderBy("seq", query.order === "newest" ? "desc" : "asc")
        .limit(query.limit)
        .execute();
      return rows.map(toLine);
    },
    async head() {
      return database()
        .selectFrom("audit")
        .select(["seq", "hash"])
        .orderBy("seq", "desc")
        .limit(1)
        .executeTakeFirst();
    },
  };
}

function matching(
  database: Kysely<Schema>,
  { actor, userId, action, object, outcome, fromMs, toMs, within, order, after }: AuditQuery,
) {
  return database
    .selectFrom("audit")
    .$if(actor !== undefined, (query) => query.where("actor", "=", actor ?? ""))
    .$if(userId !== undefined, (query) => query.where("user_id", "=", userId ?? ""))
    .$if(action !== undefined, (query) => query.where("action", "=", action ?? ""))
    .$if(object !== undefined, (query) => query.where("object", "=", object ?? ""))
    .$if(outcome !== undefined, (query) => query.where("outcome", "=", outcome ?? ""))
    .$if(fromMs !== undefined, (query) => query.where("at_ms", ">=", fromMs ?? 0))
    .$if(toMs !== undefined, (query) => query.where("at_ms", "<", toMs ?? 0))
    .$if(after !== undefined, (query) =>
      query.where("seq", order === "newest" ? "<" : ">", after ?? 0),
    )
    .$if(within !== undefined, (query) =>
      query.where(
        anyOf(
          isOneOf("organization_id", within?.organizations ?? []),
          isOneOf("team_id", within?.teams ?? []),
        ),
      ),
    );
}

function toLine(row: AuditTable): AuditLine {
  return {
    seq: row.seq,
    atMs: row.at_ms,
    actor: row.actor,
    userId: row.user_id,
    session: row.session,
    address: row.address,
    action: row.action,
    object: row.object,
    organizationId: row.organization_id,
    teamId: row.team_id,
    outcome: row.outcome as AuditOutcome,
    before: valuesOf(row.before),
    after: valuesOf(row.after),
    requestId: row.request_id,
    prevHash: row.prev_hash,
    hash: row.hash,
  };
}

function valuesOf(text: string | null): JsonObject | null {
  return text === null ? null : (parseJson(text) as JsonObject);
}
