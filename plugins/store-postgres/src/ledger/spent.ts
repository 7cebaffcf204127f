/**
 * Sums the cost of rows: what a budget begins with. Whole units come from sums, the edges from
 * rows.
 */

import type { LedgerSumFilter } from "@sluice/contract";
import { SUMS_MS } from "@sluice/store-sql/customers";
import { DAY_MS, HOUR_MS, sumsOfFilter } from "@sluice/store-sql/sums";
import { TOTAL_WEEKS, weeksOf } from "@sluice/store-sql/weeks";
import { Conditions, modelCondition, sumConditionsOf } from "./filter.ts";
import type { Reading } from "./read.ts";
import { prunedBefore } from "./retention.ts";
import { throughWeeks } from "./sums/weeks/read.ts";

/** A statement without its span, and the column and length of its unit. */
interface SumSource {
  readonly from: string;
  readonly conditions: Conditions;
  readonly unit: string;
  readonly unitMs: number;
}

/** The cost of the rows of a filter, in nano-dollars. */
export async function readSpent(reading: Reading, filter: LedgerSumFilter): Promise<number> {
  const source = sourceOf(filter);
  const { fromMs = -Infinity, toMs = Infinity } = filter;
  const [first, end] = await unitsOf(reading, source?.unitMs ?? 1, fromMs, toMs);
  if (source === undefined || first >= end) return Number(await ofRows(reading, filter));
  const { unitMs } = source;
  let sum = await ofUnits(reading, source, first, end);
  if (first * unitMs > fromMs)
    sum += await ofRows(reading, { ...filter, fromMs, toMs: first * unitMs });
  if (end * unitMs < toMs) sum += await ofRows(reading, { ...filter, fromMs: end * unitMs, toMs });
  return Number(sum);
}

/**
 * The whole units of a span: its edges are read from rows. Where rows may be gone, a whole unit
 * stands for its part: no budget gets more than it has.
 */
async function unitsOf(
  reading: Reading,
  unitMs: number,
  fromMs: number,
  toMs: number,
): Promise<readonly [first: number, end: number]> {
  const [first, end] = [Math.ceil(fromMs / unitMs), Math.floor(toMs / unitMs)];
  if (first * unitMs === fromMs && end * unitMs === toMs) return [first, end];
  const beforeMs = await prunedBefore(reading);
  return [
    fromMs < beforeMs ? Math.floor(fromMs / unitMs) : first,
    toMs < beforeMs ? Math.ceil(toMs / unitMs) : end,
  ];
}

/** The costs of the rows of the first filters, at least of one: of all, unless that takes long. */
export async function readSums(
  reading: Reading,
  filters: readonly LedgerSumFilter[],
): Promise<readonly number[]> {
  const sums: number[] = [];
  const endMs = performance.now() + SUMS_MS;
  for (const filter of filters) {
    // oxlint-disable-next-line no-await-in-loop -- one connection.
    sums.push(await readSpent(reading, filter));
    if (performance.now() >= endMs) break;
  }
  return sums;
}

const HOURS = DAY_MS / HOUR_MS;
const OF_TOTALS = ["subject", "model", "model_group", "nano_usd"];

/**
 * Whole units. Where they are hours, whole days among them are read as days; where they are
 * quarters of an hour, whole weeks that are added up.
 */
async function ofUnits(
  reading: Reading,
  source: SumSource,
  first: number,
  end: number,
): Promise<bigint> {
  if (source.from === TOTAL_WEEKS.source) {
    const totals = throughWeeks(TOTAL_WEEKS, OF_TOTALS, weeksOf(TOTAL_WEEKS, first, end));
    return costOf(reading, "sum(nano_usd)", `${totals} totals`, source.conditions);
  }
  const [firstDay, endDay] = [Math.ceil(first / HOURS), Math.floor(end / HOURS)];
  if (source.from !== "spend_hour" || firstDay >= endDay)
    return ofSums(reading, source, first, end);
  const days: SumSource = { ...source, from: "spend_day", unit: "day", unitMs: DAY_MS };
  let sum = await ofSums(reading, days, firstDay, endDay);
  if (first < firstDay * HOURS) sum += await ofSums(reading, source, first, firstDay * HOURS);
  if (endDay * HOURS < end) sum += await ofSums(reading, source, endDay * HOURS, end);
  return sum;
}

async function ofSums(
  reading: Reading,
  { from, conditions: selected, unit }: SumSource,
  first: number,
  end: number,
): Promise<bigint> {
  const conditions = selected.copy();
  if (Number.isFinite(first)) conditions.add(`${unit} >= ?`, first);
  if (Number.isFinite(end)) conditions.add(`${unit} < ?`, end);
  return costOf(reading, `sum(nano_usd)`, from, conditions);
}

async function ofRows(reading: Reading, filter: LedgerSumFilter): Promise<bigint> {
  return costOf(reading, "sum(cost_nano_usd)", "ledger", sumConditionsOf(filter));
}

async function costOf(
  reading: Reading,
  sum: string,
  from: string,
  { where, parameters }: Conditions,
): Promise<bigint> {
  const { rows } = await reading.query<{ readonly cost: string | null }>(
    `select ${sum}::text as cost from ${from} where ${where}`,
    parameters,
  );
  return BigInt(rows[0]?.cost ?? 0);
}

/** The sums that answer a filter; `undefined` where none do. */
function sourceOf(filter: LedgerSumFilter): SumSource | undefined {
  const sums = sumsOfFilter(filter);
  if (sums === undefined) return undefined;
  const { table, unit, unitMs, own, cell, models } = sums;
  const conditions = new Conditions();
  if (own !== undefined) conditions.add(`${own[0]} = ?`, own[1]);
  const terms = cell.map(([column]) => `${column} = ?`);
  const values: unknown[] = cell.map(([, value]) => value);
  if (models !== undefined) {
    terms.push(modelCondition("model", "model_group"));
    values.push(models);
  }
  const where = terms.join(" and ");
  if (table === "spend_total") {
    if (where !== "") conditions.add(where, ...values);
  } else if (where !== "") {
    conditions.add(`cell in (select id from spend_cell where ${where})`, ...values);
  }
  return { from: table, conditions, unit, unitMs };
}
