/** Rollouts of the fleet at rest. */

import type {
  JsonObject,
  RolloutDraft,
  RolloutPlan,
  RolloutRecord,
  RolloutReport,
  RolloutStage,
  RolloutStore,
} from "@sluice/contract";
import { type CompiledQuery, sql } from "kysely";
import { parseJson } from "@sluice/kit";
import type { RolloutReportTable, RolloutTable } from "../schema.ts";
import type { StatementResult } from "../statement-driver.ts";
import type { RefusalOf } from "../tenants/conflicts.ts";
import type { FleetPlace } from "./instances.ts";

/** The open database. */
export interface RolloutPlace extends FleetPlace {
  /** Several changes in one transaction. */
  readonly transact: (statements: readonly CompiledQuery[]) => Promise<readonly StatementResult[]>;
  readonly refusalOf: RefusalOf;
}

/** The members of a rollout that its row keeps as one text: nothing asks for them by value. */
type Detail = Pick<
  RolloutRecord,
  "kind" | "contentsOf" | "plan" | "isForced" | "author" | "instance" | "effects"
>;

const TAKEN = "taken";
const REPLACED = "another rollout took its place";
const COLUMNS = [
  "source",
  "id",
  "contents",
  "base",
  "stage",
  "reason",
  "at_ms",
  "ends_at_ms",
  "detail",
] as const;

/** Makes the store of rollouts. */
export function createRolloutStore(place: RolloutPlace): RolloutStore {
  return { ...reads(place), ...writes(place), ...pruning(place), ...reports(place) };
}

function reads({
  database,
  nowMs,
}: RolloutPlace): Pick<RolloutStore, "newest" | "list" | "find" | "files"> {
  return {
    async newest(source) {
      const row = await database()
        .selectFrom("rollout")
        .select(COLUMNS)
        .select(nowMs.as("now_ms"))
        .where("source", "=", source)
        .orderBy("id", "desc")
        .limit(1)
        .executeTakeFirst();
      return { nowMs: row?.now_ms ?? 0, record: row && toRecord(row) };
    },
    async list(source, limit) {
      const rows = await database()
        .selectFrom("rollout")
        .select(COLUMNS)
        .where("source", "=", source)
        .orderBy("id", "desc")
        .limit(limit)
        .execute();
      return rows.map(toRecord);
    },
    async find(source, id) {
      const row = await database()
        .selectFrom("rollout")
        .select(COLUMNS)
        .where("source", "=", source)
        .where("id", "=", id)
        .executeTakeFirst();
      return row && toRecord(row);
    },
    async files(id) {
      const row = await database()
        .selectFrom("rollout")
        .select("files")
        .where("source", "=", "store")
        .where("id", "=", id)
        .executeTakeFirst();
      const text = row?.files ?? null;
      return text === null ? undefined : (parseJson(text) as Readonly<Record<string, string>>);
    },
  };
}

function writes({
  database,
  writer,
  nowMs,
  transact,
  refusalOf,
}: RolloutPlace): Pick<RolloutStore, "begin" | "decide"> {
  return {
    async begin(draft, after) {
      const id = after + 1;
      const { source, contents, base, plan, files, endsAfterMs } = draft;
      const replaced = database()
        .updateTable("rollout")
        .set({ stage: "returned", reason: REPLACED })
        .where("source", "=", source)
        .where("stage", "=", "canary")
        .compile();
      const begun = database()
        .insertInto("rollout")
        .values({
          source,
          id,
          contents,
          base,
          stage: plan === null ? "all" : "canary",
          reason: draft.reason,
          at_ms: nowMs,
          ends_at_ms: sql<number>`${nowMs} + ${sql.lit(Math.round(endsAfterMs))}`,
          detail: JSON.stringify(detailOf(draft)),
          files: files === null ? null : JSON.stringify(files),
        })
        .compile();
      try {
        await transact([replaced, begun]);
        return id;
      } catch (error) {
        if (refusalOf(error) === TAKEN) return undefined;
        throw error;
      }
    },
    async decide(source, id, stage, reason) {
      const { numUpdatedRows } = await writer()
        .updateTable("rollout")
        .set({ stage, reason })
        .where("source", "=", source)
        .where("id", "=", id)
        .where("stage", "=", "canary")
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
  };
}

/** Deletes old rollouts with their reports. */
function pruning({ database, writer }: RolloutPlace): Pick<RolloutStore, "prune"> {
  return {
    async prune(source, keep) {
      const newest = await database()
        .selectFrom("rollout")
        .select(["id", "base"])
        .where("source", "=", source)
        .orderBy("id", "desc")
        .limit(1)
        .executeTakeFirst();
      if (newest === undefined || newest.id <= keep) return;
      for (const table of ["rollout_report", "rollout"] as const)
        await writer()
          .deleteFrom(table)
          .where("source", "=", source)
          .where("id", "<=", newest.id - keep)
          .where("id", "<>", newest.base ?? 0)
          .execute();
    },
  };
}

function reports({
  database,
  writer,
  nowMs,
}: RolloutPlace): Pick<RolloutStore, "report" | "reports"> {
  return {
    async report(source, id, { instance, process, ...report }) {
      const text = JSON.stringify(report);
      await writer()
        .insertInto("rollout_report")
        .values({ source, id, instance, process, at_ms: nowMs, report: text })
        .onConflict((conflict) =>
          conflict
            .columns(["source", "id", "instance", "process"])
            .doUpdateSet({ at_ms: nowMs, report: text }),
        )
        .execute();
    },
    async reports(source, id) {
      const rows = await database()
        .selectFrom("rollout_report")
        .selectAll()
        .where("source", "=", source)
        .where("id", "=", id)
        .orderBy("at_ms", "desc")
        .orderBy("instance")
        .execute();
      return rows.flatMap(toReport);
    },
  };
}

function detailOf(draft: RolloutDraft): Detail {
  const { kind, contentsOf, plan, isForced, author, instance, effects } = draft;
  return { kind, contentsOf, plan, isForced, author, instance, effects };
}

function toRecord(row: Omit<RolloutTable, "files">): RolloutRecord {
  const detail = parseJson(row.detail) as Partial<Detail>;
  return {
    source: row.source === "store" ? "store" : "files",
    id: row.id,
    contents: row.contents,
    base: row.base,
    stage: row.stage as RolloutStage,
    reason: row.reason,
    atMs: row.at_ms,
    endsAtMs: row.ends_at_ms,
    kind: detail.kind ?? "reload",
    contentsOf: detail.contentsOf ?? null,
    plan: (detail.plan ?? null) as RolloutPlan | null,
    isForced: detail.isForced ?? false,
    author: detail.author ?? null,
    instance: detail.instance ?? "",
    effects: detail.effects ?? [],
  };
}

function toReport({ instance, process, report }: RolloutReportTable): RolloutReport[] {
  try {
    const read = parseJson(report) as Partial<RolloutReport>;
    const { outcome = "waiting", reasons = [], evidence = null } = read;
    return [{ instance, process, outcome, reasons, evidence: evidence as JsonObject | null }];
  } catch {
    return [];
  }
}
