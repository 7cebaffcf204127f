/** The table and the statement of a report. */

import { SPEND_DIMENSIONS, type SpendDimension, type SpendReportQuery } from "@sluice/contract";
import { checkReport } from "@sluice/store-sql/reports";
import { DAY_MS, HOUR_MS } from "@sluice/store-sql/sums";
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
  readonly unit: "hour" | "day";
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

/**
 * Plans a report; `undefined` when no group can come after the query's last one. Throws
 * `invalid_field` for what the sums do not answer.
 */
export function planReport(query: SpendReportQuery): ReportPlan | undefined {
  const { by, bucket, filter, after } = query;
  const has = (name: SpendDimension): boolean => by.includes(name) || filter[name] !== undefined;
  const table = has("customer")
    ? "spend_customer_day"
    : has("tag")
      ? "spend_tag_hour"
      : hasWholeDays(query)
        ? "spend_day"
        : "spend_hour";
  const unit = table === "spend_customer_day" || table === "spend_day" ? "day" : "hour";
  const unitMs = unit === "day" ? DAY_MS : HOUR_MS;
  checkReport(query, unit);
  if (after !== undefined && by.length === 0 && bucket === "none") return undefined;

  const columns = by.map((name) => COLUMNS[name]);
  const keys = bucket === "hour" ? ["f.hour", ...columns] : columns;
  const where = conditions(query);
  const from = [
    `${table} f join spend_cell c on c.id = f.cell`,
    ...(by.includes("model") ? ["join spend_model m on m.id = c.model_id"] : []),
    ...(by.includes("tag") ? ["join spend_tag t on t.id = f.tag"] : []),
  ].join(" ");
  const sums = AMOUNT_COLUMNS.map((name) => `sum(f.${name})`);
  return {
    table,
    unit,
    unitMs,
    unitsAtOnce: table === "spend_day" && bucket === "none" ? HOURS_A_DAY : DAY_MS / unitMs,
    first: Math.max((query.fromMs ?? -Infinity) / unitMs, firstAfter(query, unitMs)),
    end: Math.min((query.toMs ?? Infinity) / unitMs, Number.MAX_SAFE_INTEGER),
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

/** A day of sums by hour is as long as so many sums by day. */
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
