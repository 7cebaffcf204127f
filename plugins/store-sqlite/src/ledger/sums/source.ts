/** The statements that read the stored sums of a filter. */

import type { LedgerSumFilter } from "@sluice/contract";
import { type ColumnValue, sumsOfFilter } from "@sluice/store-sql/sums";
import { TOTAL_WEEKS, weeksOf } from "@sluice/store-sql/weeks";
import type { SQLInputValue } from "node:sqlite";
import { type Conditions, modelConditions } from "../filter.ts";

/** Stored sums. */
export interface SumSource {
  /** The length of a unit, in milliseconds. */
  readonly unitMs: number;
  /** The statement that reads the units of a span; the end is exclusive. */
  select(first: number, end: number): SumStatement;
}

/** A statement with one row: the column `cost`. */
interface SumStatement {
  readonly sql: string;
  readonly parameters: readonly SQLInputValue[];
}

/** The source of a filter's sum; `undefined` where no sums answer it. */
export function sumSource(filter: LedgerSumFilter): SumSource | undefined {
  const sums = sumsOfFilter(filter);
  if (sums === undefined) return undefined;
  const { table, unit, unitMs, own } = sums;
  const { terms, parameters } = equal(own === undefined ? [] : [own]);
  const models = ofModels(sums.models);
  if (table === "spend_total") {
    terms.push(...models.terms);
    parameters.push(...models.parameters);
  } else {
    const cell = equal(sums.cell);
    const conditions = [...cell.terms, ...models.terms];
    if (conditions.length > 0)
      terms.push(`cell in (select id from spend_cell where ${conditions.join(" and ")})`);
    parameters.push(...cell.parameters, ...models.parameters);
  }
  const where = terms.map((term) => `${term} and `).join("");
  if (table === TOTAL_WEEKS.source)
    return { unitMs, select: (first, end) => selectTotals(where, parameters, first, end) };
  const sql = `select sum(nano_usd) as cost from ${table} where ${where}${unit} >= ? and ${unit} < ?`;
  return {
    unitMs,
    select: (first, end) => ({ sql, parameters: [...parameters, atMost(first), atMost(end)] }),
  };
}

/** A number that SQLite can hold. */
function atMost(unit: number): number {
  return Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, unit));
}

const { table: OF_WEEKS, marker, source: TOTALS, unit: SPAN, perWeek } = TOTAL_WEEKS;
/** The end of the weeks that are read: the parameters are the first, the end and the first. */
const ROLLED = `max(?, min(?, ifnull((select next_week from ${marker}), ?)))`;

/**
 * Totals of whole weeks that are added up, and of the spans around them. One statement is one
 * snapshot: a week that is added up meanwhile counts once.
 */
function selectTotals(
  where: string,
  parameters: readonly SQLInputValue[],
  fromSpan: number,
  toSpan: number,
): SumStatement {
  const { first, firstWeek, endWeek, end } = weeksOf(TOTAL_WEEKS, fromSpan, toSpan);
  const rolled = [firstWeek, endWeek, firstWeek];
  const parts = [
    { from: OF_WEEKS, span: `week >= ? and week < ${ROLLED}`, values: [firstWeek, ...rolled] },
    {
      from: TOTALS,
      span: `${SPAN} >= ? and ${SPAN} < ?`,
      values: [first, Math.min(firstWeek * perWeek, end)],
    },
    {
      from: TOTALS,
      span: `${SPAN} >= ${ROLLED} * ${perWeek} and ${SPAN} < ?`,
      values: [...rolled, end],
    },
  ];
  const selects = parts.map(
    ({ from, span }) => `select sum(nano_usd) as cost from ${from} where ${where}${span}`,
  );
  return {
    sql: `select sum(cost) as cost from (${selects.join(" union all ")})`,
    parameters: parts.flatMap(({ values }) => [...parameters, ...values]),
  };
}

/** Tags are numbers in the tables of sums. */
function equal(columns: readonly ColumnValue[]): Conditions {
  return {
    terms: columns.map(([column]) =>
      column === "tag" ? "tag = (select id from spend_tag where tag = ?)" : `${column} = ?`,
    ),
    parameters: columns.map(([, value]) => value),
  };
}

function ofModels(models: readonly string[] | undefined): Conditions {
  const { terms, parameters } = modelConditions(models);
  return {
    terms: terms.map((term) => `model_id in (select id from spend_model where ${term})`),
    parameters,
  };
}
