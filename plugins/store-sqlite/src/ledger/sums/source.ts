/** The stored sums that answer how much the rows of a filter cost. */

import type { LedgerSumFilter } from "@sluice/contract";
import type { SQLInputValue } from "node:sqlite";
import { type Conditions, modelConditions } from "../filter.ts";
import { DAY_MS, HOUR_MS, TOTAL_MS } from "./collect.ts";

/** A statement whose last two parameters are the first unit of the span and the end, exclusive. */
export interface SumSource {
  readonly sql: string;
  readonly parameters: readonly SQLInputValue[];
  /** The length of a unit, in milliseconds. */
  readonly unitMs: number;
}

/**
 * The source of a filter's sum; `undefined` where no sums answer it: with the id of a request, for
 * a customer's tag, and for an id that no row can have.
 */
export function sumSource(filter: LedgerSumFilter): SumSource | undefined {
  const { organizationId: organization, ...others } = filter;
  const { requestId, completionId, provider, tag, endUser } = others;
  if (requestId !== undefined || completionId !== undefined) return undefined;
  if (provider?.includes("/") === true || Object.values(others).includes("")) return undefined;
  if (endUser !== undefined && tag !== undefined) return undefined;
  const subject = organization === "" ? undefined : subjectOf(filter);
  if (subject !== undefined) return ofTotals(subject, filter);
  const cells = cellConditions(filter);
  if (endUser !== undefined)
    return ofCells(
      "spend_customer_day",
      "day",
      { terms: ["customer = ?"], parameters: [endUser] },
      cells,
    );
  if (tag === undefined) return ofCells("spend_hour", "hour", { terms: [], parameters: [] }, cells);
  const ofTag = "tag = (select id from spend_tag where tag = ?)";
  return ofCells("spend_tag_hour", "hour", { terms: [ofTag], parameters: [tag] }, cells);
}

/** The subject of the totals that a filter means; `undefined` where there are none. */
function subjectOf(filter: LedgerSumFilter): string | undefined {
  const { keyId, userId, teamId, organizationId, endUser, tag, provider } = filter;
  if (keyId !== undefined || userId !== undefined || endUser !== undefined) return undefined;
  const subjects = Object.entries({
    organization: organizationId,
    team: teamId,
    tag,
    provider,
  }).filter(([, id]) => id !== undefined);
  const [first] = subjects;
  if (subjects.length > 1) return undefined;
  return first === undefined ? "all" : `${first[0]}:${first[1]}`;
}

function ofTotals(subject: string, { models }: LedgerSumFilter): SumSource {
  const { terms, parameters } = ofModels(models);
  const where = ["subject = ?", ...terms, "span >= ?", "span < ?"].join(" and ");
  const sql = `select sum(nano_usd) as cost from spend_total where ${where}`;
  return { sql, parameters: [subject, ...parameters], unitMs: TOTAL_MS };
}

function ofCells(
  table: string,
  unit: "hour" | "day",
  own: Conditions,
  cells: Conditions,
): SumSource {
  const terms = [...own.terms];
  if (cells.terms.length > 0)
    terms.push(`cell in (select id from spend_cell where ${cells.terms.join(" and ")})`);
  const where = [...terms, `${unit} >= ?`, `${unit} < ?`].join(" and ");
  return {
    sql: `select sum(nano_usd) as cost from ${table} where ${where}`,
    parameters: [...own.parameters, ...cells.parameters],
    unitMs: unit === "hour" ? HOUR_MS : DAY_MS,
  };
}

/** The conditions on a cell. */
function cellConditions(filter: LedgerSumFilter): Conditions {
  const { terms, parameters } = ofModels(filter.models);
  const { keyId, userId, teamId, organizationId, provider } = filter;
  const ids = {
    key_id: keyId,
    user_id: userId,
    team_id: teamId,
    organization_id: organizationId,
    provider,
  };
  for (const [column, id] of Object.entries(ids)) {
    if (id === undefined) continue;
    terms.push(`${column} = ?`);
    parameters.push(id);
  }
  return { terms, parameters };
}

function ofModels(models: readonly string[] | undefined): Conditions {
  const { terms, parameters } = modelConditions(models);
  return {
    terms: terms.map((term) => `model_id in (select id from spend_model where ${term})`),
    parameters,
  };
}
