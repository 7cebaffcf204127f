/** The table and the statement of a report. */

import { SPEND_DIMENSIONS, type SpendDimension, type SpendReportQuery } from "@sluice/contract";
import { checkReport } from "@sluice/store-sql/reports";
import { DAY_MS, HOUR_MS } from "@sluice/store-sql/sums";
import { CELL_WEEKS, WEEK_DAYS, WEEK_MS, weeksOf } from "@sluice/store-sql/weeks";
import type { SQLInputValue } from "node:sqlite";
import { AMOUNT_COLUMNS } from "./amounts.ts";

/** The part of a report that one statement reads, in the units of its table. */
export interface ReportDay {
  readonly first: number;
  /** Exclusive. */
  readonly end: number;
}

/** How a report is read. */
export interface ReportPlan {
  readonly table: string;
  /** The column of time, and the length of its unit in milliseconds. */
  readonly unit: "hour" | "day" | "week";
  readonly unitMs: number;
  /** Units that one statement reads at most. */
  readonly unitsAtOnce: number;
  /** The first unit, and the end, exclusive. */
  readonly first: number;
  readonly end: number;
  /** The statement of a day. Its last parameter is the limit. */
  select(day: ReportDay): { readonly sql: string; readonly parameters: SQLInputValue[] };
}

/** The columns of dimensions: of facts `f`, cells `c`, models `m` and tags `t`. */
const COLUMNS: Readonly<Record<SpendDimension, string>> = {
  organization: "c.organization_id",
  team: "c.team_id",
  user: "c.user_id",
  key: "c.key_id",
  tag: "t.tag",
  model: "m.model",
  provider: "c.provider",
  customer: "f.customer",
};

/** Cells by a list of scopes: one text for any list, because statements are kept by their texts. */
const WITHIN = `exists (select 1 from json_each(?) each where ${[
  "organization",
  "team",
  "user",
  "key",
]
  .map((name) => `ifnull(each.value ->> '$.${name}', c.${name}_id) = c.${name}_id`)
  .join(" and ")})`;

interface Terms {
  readonly terms: string[];
  readonly parameters: SQLInputValue[];
}

/** A table of sums, and its unit of time. */
interface Table {
  readonly table: string;
  readonly unit: "hour" | "day" | "week";
  readonly unitMs: number;
}

const DAYS: Table = { table: "spend_day", unit: "day", unitMs: DAY_MS };
const WEEKS: Table = { table: "spend_week", unit: "week", unitMs: WEEK_MS };

/**
 * Plans a report: parts that are read one after the other. There are none when no group can come
 * after the query's last one. Weeks before `nextWeek` are added up. Throws `invalid_field` for what
 * the sums do not answer.
 */
export function planReport(query: SpendReportQuery, nextWeek: number): readonly ReportPlan[] {
  const { by, bucket, after } = query;
  const table = tableOf(query);
  checkReport(query, table.unit === "hour" ? "hour" : "day");
  if (after !== undefined && by.length === 0 && bucket === "none") return [];
  const { fromMs = -Infinity, toMs = Infinity } = query;
  const first = Math.max(fromMs / table.unitMs, firstAfter(query, table.unitMs));
  const end = Math.min(toMs / table.unitMs, Number.MAX_SAFE_INTEGER);
  if (table !== DAYS || bucket !== "none") return [partOf(query, table, first, end)];
  const { firstWeek, endWeek } = weeksOf(CELL_WEEKS, fromMs / DAY_MS, toMs / DAY_MS);
  const endOfWeeks = Math.max(firstWeek, Math.min(endWeek, nextWeek));
  return [
    partOf(query, DAYS, first, Math.min(end, firstWeek * WEEK_DAYS)),
    partOf(query, WEEKS, firstWeek, endOfWeeks),
    partOf(query, DAYS, Math.max(first, endOfWeeks * WEEK_DAYS), end),
  ];
}

function tableOf(query: SpendReportQuery): Table {
  const { by, filter } = query;
  const has = (name: SpendDimension): boolean => by.includes(name) || filter[name] !== undefined;
  if (has("customer")) return { ...DAYS, table: "spend_customer_day" };
  if (has("tag")) return { table: "spend_tag_hour", unit: "hour", unitMs: HOUR_MS };
  return hasWholeDays(query) ? DAYS : { table: "spend_hour", unit: "hour", unitMs: HOUR_MS };
}

/** A part of a report, from one table. */
function partOf(
  query: SpendReportQuery,
  { table, unit, unitMs }: Table,
  first: number,
  end: number,
): ReportPlan {
  const { by, bucket } = query;
  const columns = by.map((name) => COLUMNS[name]);
  const keys = bucket === "hour" ? ["f.hour", ...columns] : columns;
  const where = conditions(query);
  const from = [
    `${table} f join spend_cell c on c.id = f.cell`,
    ...(by.includes("model") ? ["join spend_model m on m.id = c.model_id"] : []),
    ...(by.includes("tag") ? ["join spend_tag t on t.id = f.tag"] : []),
  ].join(" ");
  const sums = AMOUNT_COLUMNS.map((name) => `sum(f.${name})`);
  const isLong = unit === "week" || (table === DAYS.table && bucket === "none");
  return {
    table,
    unit,
    unitMs,
    unitsAtOnce: isLong ? HOURS_A_DAY : DAY_MS / unitMs,
    first,
    end,
    select(day) {
      const span = [`f.${unit} >= ?`, `f.${unit} < ?`];
      const last = afterConditions(query, columns, day, unitMs);
      const terms = [...span, ...where.terms, ...last.terms].join(" and ");
      const order =
        keys.length === 0 ? "" : `group by ${keys.join(", ")} order by ${keys.join(", ")}`;
      return {
        // Without keys there is one group, also of no rows: it is left out.
        sql: `select ${[...keys, ...sums].join(", ")} from ${from} where ${terms} ${order || "having count(*) > 0"} limit ?`,
        parameters: [day.first, day.end, ...where.parameters, ...last.parameters],
      };
    },
  };
}

/** A day of sums by hour is as long as so many sums by day or by week. */
const HOURS_A_DAY = DAY_MS / HOUR_MS;

/** Whether sums by day answer a report: a day of 24 hours has 24 sums of each cell by hour. */
function hasWholeDays({ bucket, fromMs = 0, toMs = 0 }: SpendReportQuery): boolean {
  return bucket !== "hour" && fromMs % DAY_MS === 0 && toMs % DAY_MS === 0;
}

function conditions({ filter, within }: SpendReportQuery): Terms {
  const terms: string[] = [];
  const parameters: SQLInputValue[] = [];
  const cells: string[] = [];
  const ofCells: SQLInputValue[] = [];
  for (const name of SPEND_DIMENSIONS) {
    const id = filter[name];
    if (id === undefined) continue;
    if (name === "tag" || name === "customer") {
      terms.push(
        name === "tag" ? "f.tag = (select id from spend_tag where tag = ?)" : "f.customer = ?",
      );
      parameters.push(id);
      continue;
    }
    cells.push(
      name === "model"
        ? "c.model_id in (select id from spend_model where model = ?)"
        : `${COLUMNS[name]} = ?`,
    );
    ofCells.push(id);
  }
  if (within !== undefined) {
    cells.push(WITHIN);
    ofCells.push(JSON.stringify(within));
  }
  if (cells.length > 0) {
    terms.push(`f.cell in (select c.id from spend_cell c where ${cells.join(" and ")})`);
    parameters.push(...ofCells);
  }
  return { terms, parameters };
}

/** The first unit that may have groups behind the last one of the page before. */
function firstAfter({ by, bucket, after }: SpendReportQuery, unitMs: number): number {
  if (after === undefined || bucket === "none") return Number.MIN_SAFE_INTEGER;
  const bucketMs = bucket === "day" ? DAY_MS : HOUR_MS;
  // A bucket without dimensions is one group.
  const startMs = (after.startMs ?? 0) + (by.length === 0 ? bucketMs : 0);
  return Math.floor(startMs / unitMs);
}

/** The groups behind the last one of the page before, where it can be in the day. */
function afterConditions(
  { by, bucket, after }: SpendReportQuery,
  columns: readonly string[],
  day: ReportDay,
  unitMs: number,
): Terms {
  if (after === undefined || by.length === 0) return { terms: [], parameters: [] };
  const startMs = after.startMs ?? 0;
  const isSameDay = Math.floor((day.first * unitMs) / DAY_MS) === Math.floor(startMs / DAY_MS);
  if (bucket !== "none" && !isSameDay) return { terms: [], parameters: [] };
  const ids = columns.map((_, index) => after.ids[index] ?? "");
  const behind = `(${columns.join(", ")}) > (${columns.map(() => "?").join(", ")})`;
  return bucket === "hour"
    ? { terms: [`(f.hour > ? or ${behind})`], parameters: [startMs / HOUR_MS, ...ids] }
    : { terms: [behind], parameters: ids };
}
