/** Instances of the fleet at rest. */

import type { InstanceRecord, InstanceReport, InstanceStore } from "@sluice/contract";
import { type Kysely, type RawBuilder, sql } from "kysely";
import { parseJson } from "@sluice/kit";
import type { InstanceTable, Schema } from "../schema.ts";

/** The open database: asked at every call. */
export interface FleetPlace {
  readonly database: () => Kysely<Schema>;
  readonly writer: () => Kysely<Schema>;
  /** The time of the database's clock in milliseconds since 1970. */
  readonly nowMs: RawBuilder<number>;
  /** The time between two reports without a change, in milliseconds. */
  readonly reportEveryMs: number;
}

/** Makes the store of instances. Each write is one statement. */
export function createInstanceStore(place: FleetPlace): InstanceStore {
  const { database, writer, nowMs, reportEveryMs } = place;
  return {
    reportEveryMs,
    async report(report) {
      const { id, worker } = report;
      const text = JSON.stringify(report);
      await writer()
        .insertInto("instance")
        .values({ id, worker, seen_at_ms: nowMs, report: text })
        .onConflict((conflict) =>
          conflict.columns(["id", "worker"]).doUpdateSet({ seen_at_ms: nowMs, report: text }),
        )
        .execute();
    },
    async leave(id, worker) {
      const { numDeletedRows } = await writer()
        .deleteFrom("instance")
        .where("id", "=", id)
        .$if(worker !== undefined, (query) => query.where("worker", "=", worker ?? 0))
        .executeTakeFirst();
      return numDeletedRows > 0n;
    },
    async list(limit) {
      const rows = await database()
        .selectFrom("instance")
        .selectAll()
        .select(nowMs.as("now_ms"))
        .orderBy("seen_at_ms", "desc")
        .orderBy("id")
        .orderBy("worker")
        .limit(limit)
        .execute();
      return { nowMs: rows[0]?.now_ms ?? 0, records: rows.flatMap(toRecord) };
    },
    async expire(olderThanMs) {
      await writer()
        .deleteFrom("instance")
        .where("seen_at_ms", "<", sql<number>`${nowMs} - ${sql.lit(Math.round(olderThanMs))}`)
        .execute();
    },
  };
}

/**
 * A report of another version may lack members, and have others. One that is damaged is left out.
 */
function toRecord({ id, worker, seen_at_ms: seenAtMs, report }: InstanceTable): InstanceRecord[] {
  let read: Partial<InstanceReport>;
  try {
    read = parseJson(report) as Partial<InstanceReport>;
  } catch {
    return [];
  }
  const {
    name = id,
    version = "unknown",
    adminUrl = null,
    dataDirectory = null,
    state = "serving",
    workers = 1,
    startedAtMs = seenAtMs,
    generation = 0,
    sinceMs = seenAtMs,
    digest = "",
    contents = "",
    canary = null,
    refused = null,
  } = read;
  const known = { name, version, adminUrl, dataDirectory, state, workers, startedAtMs };
  return [
    { id, worker, seenAtMs, ...known, generation, sinceMs, digest, contents, canary, refused },
  ];
}
