/**
 * Reports of the stored sums, part by part: no statement reads more than a day of hours, or as many
 * days or weeks as a day has hours.
 */

import { GatewayError, type SpendGroup, type SpendReportQuery } from "@sluice/contract";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { createStatementCache } from "../filter.ts";
import { compareIds, compareSpend, Merged, readGroup } from "./group.ts";
import { planReport, type ReportDay, type ReportPlan } from "./plan.ts";
import { CELLS, createNextWeek } from "./weeks/tables.ts";

/** Groups in one message to the main thread. */
const BATCH_GROUPS = 250;
/** Groups of a report in the order of their cost: all of them are in memory. */
const MAX_GROUPS = 200_000;

/** Makes the reader of an open database. It yields empty batches while it adds up. */
export function createSpendReport(
  database: DatabaseSync,
): (query: SpendReportQuery) => Generator<readonly SpendGroup[]> {
  const prepare = createStatementCache((sql) => {
    const statement = database.prepare(sql);
    statement.setReadBigInts(true);
    statement.setReturnArrays(true);
    return statement;
  });
  const nextWeek = createNextWeek(database, CELLS);

  /** One bucket or several of a day after the other: they are complete as they come. */
  function* inTime(query: SpendReportQuery, plan: ReportPlan): Generator<readonly SpendGroup[]> {
    let left = query.limit;
    for (const day of daysOf(prepare, plan)) {
      const { sql, parameters } = plan.select(day);
      const rows = prepare(sql).all(...parameters, left) as unknown as readonly unknown[][];
      const groups = rows.map((row) => readGroup(row, query, day.first * plan.unitMs));
      yield* inBatches(groups, query, prepare);
      left -= groups.length;
      if (left <= 0) return;
      yield [];
    }
  }

  /** One bucket for all days. */
  function* merged(
    query: SpendReportQuery,
    plans: readonly ReportPlan[],
  ): Generator<readonly SpendGroup[]> {
    const isBySpend = query.order === "spend";
    const found = new Merged();
    for (const { plan, day } of partsOf(prepare, plans)) {
      const { sql, parameters } = plan.select(day);
      // The first groups of all days are among the first of each day.
      const limit = isBySpend ? MAX_GROUPS + 1 : query.limit;
      for (const row of prepare(sql).iterate(...parameters, limit))
        found.add(readGroup(row as unknown as readonly unknown[], query, null));
      if (!isBySpend) found.keepFirst(query.limit);
      else if (found.size > MAX_GROUPS) throw tooLarge();
      yield [];
    }
    const groups = found.sorted(isBySpend ? compareSpend : compareIds);
    yield* inBatches(groups.slice(0, query.limit), query, prepare);
  }

  return function* (query) {
    const plans = planReport(query, nextWeek());
    const [plan] = plans;
    if (plan === undefined || query.limit <= 0) return;
    yield* query.bucket === "none" ? merged(query, plans) : inTime(query, plan);
  };
}

/** Groups with the aliases of their keys, in batches. */
function* inBatches(
  groups: readonly SpendGroup[],
  { by }: SpendReportQuery,
  prepare: (sql: string) => StatementSync,
): Generator<readonly SpendGroup[]> {
  const at = by.indexOf("key");
  for (let start = 0; start < groups.length; start += BATCH_GROUPS) {
    const batch = groups.slice(start, start + BATCH_GROUPS);
    yield at < 0 ? batch : batch.map((group) => withAlias(group, group.ids[at], prepare));
  }
}

/** The days of several plans, one after the other. */
function* partsOf(
  prepare: (sql: string) => StatementSync,
  plans: readonly ReportPlan[],
): Generator<{ readonly plan: ReportPlan; readonly day: ReportDay }> {
  for (const plan of plans) for (const day of daysOf(prepare, plan)) yield { plan, day };
}

/** The days of a report that have sums of any scope, oldest first. */
function* daysOf(
  prepare: (sql: string) => StatementSync,
  { table, unit, unitsAtOnce, first, end }: ReportPlan,
): Generator<ReportDay> {
  const next = prepare(
    `select ${unit} from ${table} where ${unit} >= ? and ${unit} < ? order by ${unit} limit 1`,
  );
  let from = first;
  for (;;) {
    const found = next.get(from, end) as unknown as readonly [bigint] | undefined;
    if (found === undefined) return;
    const at = Number(found[0]);
    const day = { first: at, end: Math.min((Math.floor(at / unitsAtOnce) + 1) * unitsAtOnce, end) };
    yield day;
    from = day.end;
  }
}

function withAlias(
  group: SpendGroup,
  key: string | null | undefined,
  prepare: (sql: string) => StatementSync,
): SpendGroup {
  if (typeof key !== "string") return group;
  const newest = prepare(
    "select key_alias from ledger where key_id = ? order by started_at_ms desc limit 1",
  );
  const [keyAlias] = (newest.get(key) as unknown as readonly unknown[] | undefined) ?? [];
  return typeof keyAlias === "string" ? { ...group, keyAlias } : group;
}

function tooLarge(): GatewayError {
  return new GatewayError(
    "invalid_field",
    `The report has more than ${MAX_GROUPS} groups; ask for fewer days, or for pages in the order of time.`,
  );
}
