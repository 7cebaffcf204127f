/**
 * Sums the cost of rows: what a budget begins with. Whole units come from sums, the edges from
 * rows.
 */

import type { LedgerSumFilter } from "@sluice/contract";
import type { Pool } from "pg";
import { Conditions, modelCondition, sumConditionsOf } from "./filter.ts";
import { DAY_MS, HOUR_MS, TOTAL_MS } from "./sums/collect.ts";

/** A statement without its span, and the column and length of its unit. */
interface SumSource {
  readonly from: string;
  readonly conditions: Conditions;
  readonly unit: string;
  readonly unitMs: number;
}

/** The cost of the rows of a filter, in nano-dollars. */
export async function readSpent(pool: Pool, filter: LedgerSumFilter): Promise<number> {
  const source = sourceOf(filter);
  const { fromMs = -Infinity, toMs = Infinity } = filter;
  const first = Math.ceil(fromMs / (source?.unitMs ?? 1));
  const end = Math.floor(toMs / (source?.unitMs ?? 1));
  if (source === undefined || first >= end) return Number(await ofRows(pool, filter));
  const { unitMs } = source;
  const parts = [ofSums(pool, source, first, end)];
  if (first * unitMs > fromMs)
    parts.push(ofRows(pool, { ...filter, fromMs, toMs: first * unitMs }));
  if (end * unitMs < toMs) parts.push(ofRows(pool, { ...filter, fromMs: end * unitMs, toMs }));
  return Number((await Promise.all(parts)).reduce((sum, part) => sum + part, 0n));
}

async function ofSums(
  pool: Pool,
  { from, conditions, unit }: SumSource,
  first: number,
  end: number,
): Promise<bigint> {
  if (Number.isFinite(first)) conditions.add(`${unit} >= ?`, first);
  if (Number.isFinite(end)) conditions.add(`${unit} < ?`, end);
  return costOf(pool, `sum(nano_usd)`, from, conditions);
}

async function ofRows(pool: Pool, filter: LedgerSumFilter): Promise<bigint> {
  return costOf(pool, "sum(cost_nano_usd)", "ledger", sumConditionsOf(filter));
}

async function costOf(
  pool: Pool,
  sum: string,
  from: string,
  { where, parameters }: Conditions,
): Promise<bigint> {
  const { rows } = await pool.query<{ readonly cost: string | null }>(
    `select ${sum}::text as cost from ${from} where ${where}`,
    parameters,
  );
  return BigInt(rows[0]?.cost ?? 0);
}

/**
 * The sums that answer a filter; `undefined` where none do: with the id of a request, for a
 * customer's tag, and for an id that no row can have.
 */
function sourceOf(filter: LedgerSumFilter): SumSource | undefined {
  const { requestId, completionId, provider, tag, endUser, models } = filter;
  if (requestId !== undefined || completionId !== undefined) return undefined;
  if (provider?.includes("/") === true || Object.values(filter).includes("")) return undefined;
  if (endUser !== undefined && tag !== undefined) return undefined;
  const conditions = new Conditions();
  const subject = subjectOf(filter);
  if (subject !== undefined) {
    conditions.add("subject = ?", subject);
    if (models !== undefined) conditions.add(modelCondition("model", "model_group"), models);
    return { from: "spend_total", conditions, unit: "span", unitMs: TOTAL_MS };
  }
  addCells(conditions, filter);
  if (endUser !== undefined) {
    conditions.add("customer = ?", endUser);
    return { from: "spend_customer_day", conditions, unit: "day", unitMs: DAY_MS };
  }
  if (tag === undefined) return { from: "spend_hour", conditions, unit: "hour", unitMs: HOUR_MS };
  conditions.add("tag = ?", tag);
  return { from: "spend_tag_hour", conditions, unit: "hour", unitMs: HOUR_MS };
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

function addCells(conditions: Conditions, filter: LedgerSumFilter): void {
  const cells = new Conditions();
  for (const [column, id] of [
    ["key_id", filter.keyId],
    ["user_id", filter.userId],
    ["team_id", filter.teamId],
    ["organization_id", filter.organizationId],
    ["provider", filter.provider],
  ] as const) {
    if (id !== undefined) cells.add(`${column} = ?`, id);
  }
  if (filter.models !== undefined) cells.add(modelCondition("model", "model_group"), filter.models);
  if (cells.terms.length === 0) return;
  const where = cells.where.replaceAll(/\$\d+/g, "?");
  conditions.add(`cell in (select id from spend_cell where ${where})`, ...cells.parameters);
}
