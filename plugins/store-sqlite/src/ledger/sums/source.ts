/** The statement that reads the stored sums of a filter. */

import type { LedgerSumFilter } from "@sluice/contract";
import { type ColumnValue, sumsOfFilter } from "@sluice/store-sql/sums";
import type { SQLInputValue } from "node:sqlite";
import { type Conditions, modelConditions } from "../filter.ts";

/** A statement whose last two parameters are the first unit of the span and the end, exclusive. */
export interface SumSource {
  readonly sql: string;
  readonly parameters: readonly SQLInputValue[];
  /** The length of a unit, in milliseconds. */
  readonly unitMs: number;
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
  const where = [...terms, `${unit} >= ?`, `${unit} < ?`].join(" and ");
  return { sql: `select sum(nano_usd) as cost from ${table} where ${where}`, parameters, unitMs };
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
