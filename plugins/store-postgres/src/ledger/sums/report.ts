/** Reports of the stored sums, one statement each. */

import {
  SPEND_DIMENSIONS,
  type SpendDimension,
  type SpendGroup,
  type SpendReportQuery,
  type SpendSums,
} from "@sluice/contract";
import { checkReport } from "@sluice/store-sql/reports";
import { DAY_MS, HOUR_MS } from "@sluice/store-sql/sums";
import { CELL_WEEKS, weeksOf } from "@sluice/store-sql/weeks";
import { Conditions } from "../filter.ts";
import { newestAliases } from "../key-aliases.ts";
import type { Reading } from "../read.ts";
import { AMOUNTS } from "./amounts.ts";
import { throughWeeks } from "./weeks/read.ts";

/** The columns of dimensions: of facts `f` and cells `c`. */
const COLUMNS: Readonly<Record<SpendDimension, string>> = {
  organization: "c.organization_id",
  team: "c.team_id",
  user: "c.user_id",
  key: "c.key_id",
  tag: "f.tag",
  model: "c.model",
  provider: "c.provider",
  customer: "f.customer",
};

/** The sums that a report reads, and the length of their unit. */
interface Source {
  readonly table: string;
  /** What is read instead of the table: its span is that of the query. */
  readonly from?: string;
  readonly unit: "hour" | "day";
  readonly unitMs: number;
}

/** The groups of a report. Throws `invalid_field` for what the sums do not answer. */
export async function readReport(
  reading: Reading,
  query: SpendReportQuery,
  nowMs: number,
): Promise<readonly SpendGroup[]> {
  const source = sourceOf(query);
  checkReport(query, source.table === "spend_day" ? "hour" : source.unit);
  const { by, bucket, after, limit, order } = query;
  const isAfterAll = after !== undefined && by.length === 0 && bucket === "none";
  if (isAfterAll || limit <= 0 || query.within?.length === 0) return [];
  const bucketOf = bucket === "none" ? [] : [bucketColumn(bucket, source)];
  const keys = [...bucketOf, ...by.map((name) => COLUMNS[name])];
  const conditions = conditionsOf(query, source, keys);
  const sums = AMOUNTS.map(({ column, member }) => `sum(f.${column})::text as "${member}"`);
  const names = keys.map((key, index) => `${key} as key_${index}`);
  const numbers = keys.map((_, index) => index + 1).join(", ");
  const highest = "sum(f.nano_usd) desc, sum(f.row_count) desc";
  const orders = [...(order === "spend" ? [highest] : []), ...(numbers === "" ? [] : [numbers])];
  const { rows } = await reading.query<Record<string, string | number>>(
    `select ${[...names, ...sums].join(", ")} from ${source.from ?? source.table} f ${needsCells(query) ? "join spend_cell c on c.id = f.cell" : ""}
     where ${conditions.where} ${numbers === "" ? "having count(*) > 0" : `group by ${numbers}`}
     ${orders.length === 0 ? "" : `order by ${orders.join(", ")}`} limit ${Math.trunc(limit)}`,
    conditions.parameters,
  );
  return withAliases(
    reading,
    query,
    rows.map((row) => groupOf(row, query)),
    nowMs,
  );
}

function sourceOf(query: SpendReportQuery): Source {
  const { by, filter, bucket, fromMs = 0, toMs = 0 } = query;
  const has = (name: SpendDimension): boolean => by.includes(name) || filter[name] !== undefined;
  const days = { unit: "day", unitMs: DAY_MS } as const;
  if (has("customer")) return { table: "spend_customer_day", ...days };
  if (has("tag")) return { table: "spend_tag_hour", unit: "hour", unitMs: HOUR_MS };
  // Sums by day are a twentieth of those by hour, or less.
  const areWholeDays = fromMs % DAY_MS === 0 && toMs % DAY_MS === 0;
  if (areWholeDays && bucket === "day") return { table: "spend_day", ...days };
  if (areWholeDays && bucket === "none")
    return { table: "spend_day", ...days, from: daysAndWeeks(query) };
  return { table: "spend_hour", unit: "hour", unitMs: HOUR_MS };
}

/** Of whole weeks that are added up, and of the days around them. */
function daysAndWeeks({ fromMs = -Infinity, toMs = Infinity }: SpendReportQuery): string {
  const columns = ["cell", ...AMOUNTS.map(({ column }) => column)];
  return throughWeeks(CELL_WEEKS, columns, weeksOf(CELL_WEEKS, fromMs / DAY_MS, toMs / DAY_MS));
}

/** Whether a report asks for anything that stands in the cells. */
function needsCells({ by, filter, within }: SpendReportQuery): boolean {
  const names = [...by, ...SPEND_DIMENSIONS.filter((name) => filter[name] !== undefined)];
  return within !== undefined || names.some((name) => COLUMNS[name].startsWith("c."));
}

/** The number of the bucket since 1970. Integer division rounds to zero, this one down. */
function bucketColumn(bucket: "hour" | "day", { unit }: Source): string {
  return bucket === unit ? `f.${unit}` : "floor(f.hour / 24.0)::integer";
}

function conditionsOf(
  { filter, within, fromMs, toMs, by, bucket, after }: SpendReportQuery,
  { unit, unitMs, from: bound }: Source,
  keys: readonly string[],
): Conditions {
  const found = new Conditions();
  const isOpen = bound === undefined;
  if (isOpen && fromMs !== undefined) found.add(`f.${unit} >= ?`, bounded(fromMs / unitMs));
  if (isOpen && toMs !== undefined) found.add(`f.${unit} < ?`, bounded(toMs / unitMs));
  for (const name of SPEND_DIMENSIONS) {
    const id = filter[name];
    if (id !== undefined) found.add(`${COLUMNS[name]} = ?`, id);
  }
  if (within !== undefined)
    found.add(
      `exists (select 1 from jsonb_array_elements(?::jsonb) scope where ${[
        "organization",
        "team",
        "user",
        "key",
      ]
        .map((name) => `coalesce(scope ->> '${name}', c.${name}_id) = c.${name}_id`)
        .join(" and ")})`,
      JSON.stringify(within),
    );
  if (after === undefined) return found;
  const bucketMs = bucket === "hour" ? HOUR_MS : DAY_MS;
  const last = [
    ...(bucket === "none" ? [] : [(after.startMs ?? 0) / bucketMs]),
    ...by.map((_, index) => after.ids[index] ?? ""),
  ];
  return found.add(`(${keys.join(", ")}) > (${keys.map(() => "?").join(", ")})`, ...last);
}

const MAX_INTEGER = 2_147_483_647;

/** A unit of time that fits its column. */
function bounded(unit: number): number {
  return Math.max(-MAX_INTEGER, Math.min(MAX_INTEGER, unit));
}

function groupOf(
  row: Readonly<Record<string, string | number>>,
  { by, bucket }: SpendReportQuery,
): SpendGroup {
  const hasBucket = bucket !== "none";
  const bucketMs = bucket === "hour" ? HOUR_MS : DAY_MS;
  const ids = by.map((_, index) => String(row[`key_${index + (hasBucket ? 1 : 0)}`] ?? ""));
  const sums = Object.fromEntries(AMOUNTS.map(({ member }) => [member, BigInt(row[member] ?? 0)]));
  return {
    startMs: hasBucket ? Number(row["key_0"]) * bucketMs : null,
    ids: ids.map((id) => (id === "" ? null : id)),
    sums: sums as unknown as SpendSums,
  };
}

/** Groups by key have the alias of the key's newest row. */
async function withAliases(
  reading: Reading,
  { by }: SpendReportQuery,
  groups: readonly SpendGroup[],
  nowMs: number,
): Promise<readonly SpendGroup[]> {
  const at = by.indexOf("key");
  const keys = new Set(groups.flatMap(({ ids }) => ids[at] ?? []));
  if (at < 0 || keys.size === 0) return groups;
  const aliases = await newestAliases(reading, keys, nowMs);
  return groups.map((group) => {
    const keyAlias = aliases.get(group.ids[at] ?? "");
    return typeof keyAlias === "string" ? { ...group, keyAlias } : group;
  });
}
