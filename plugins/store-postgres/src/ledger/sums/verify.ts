/**
 * Compares the stored sums with the rows, a UTC day at a time, in the database itself: rows of a
 * day may be millions. The amounts are written in SQL here, and not taken from the insert.
 */

import type { SumDifference, SumsCheck } from "@sluice/contract";
import { DAY_MS, HOUR_MS, TOTAL_MS } from "@sluice/store-sql/sums";
import { WEEK_DAYS, WEEK_MS } from "@sluice/store-sql/weeks";
import { dayOf, firstIdOf, timeOfId } from "../days-of-ids.ts";
import { type Reading, type ReadPlace, readWithin } from "../read.ts";
import { prunedBefore } from "../retention.ts";
import { AMOUNTS } from "./amounts.ts";
import { CELLS, nextWeek, TOTALS } from "./weeks/tables.ts";

/** Differences that are reported; the others are counted. */
const MAX_DIFFERENCES = 100;

/** A number that no double holds exactly adds nothing. */
const safe = (column: string): string =>
  `case when ${column} between -${Number.MAX_SAFE_INTEGER} and ${Number.MAX_SAFE_INTEGER} then ${column} else 0 end`;
const COUNT = `greatest(1, ${safe("requests")})`;
const countedIf = (condition: string): string => `case when ${condition} then ${COUNT} else 0 end`;

/** What a row adds to each amount. */
const ADDED: Readonly<Record<string, string>> = {
  requests: countedIf("attempt <= 1"),
  row_count: COUNT,
  failed_rows: countedIf("status = 'failure'"),
  partial_rows: countedIf("status = 'partial'"),
  unpriced_rows: countedIf("cost_nano_usd is null"),
  estimated_rows: countedIf("usage_source = 'estimated'"),
  cache_hits: countedIf("cache_hit"),
  prompt_tokens: safe("prompt_tokens"),
  completion_tokens: safe("completion_tokens"),
  total_tokens: safe("total_tokens"),
  cached_tokens: safe("cached_tokens"),
  reasoning_tokens: safe("reasoning_tokens"),
  nano_usd: safe("cost_nano_usd"),
  lost_nano_usd: `case when status = 'success' then 0 else ${safe("cost_nano_usd")} end`,
};

const NAMES = ["organization_id", "team_id", "user_id", "key_id", "model", "model_group"] as const;
/** The names of a row's cell. A name that it does not have is an empty text. */
const OF_ROW = [
  ...NAMES.map((name) => `coalesce(${name}, '') as ${name}`),
  "split_part(coalesce(target_id, ''), '/', 1) as provider",
].join(", ");
const CELL = [...NAMES, "provider"];

const ALL = AMOUNTS.map(({ column }) => column);
/** The rows of a day. A row begins within a day of its id. */
const ROWS = `select * from ledger where started_at_ms >= $1 and started_at_ms < $2 and request_id >= $3::uuid and request_id < $4::uuid`;
const TAGS = `cross join lateral (select distinct value as tag from jsonb_array_elements_text(tags) value where value <> '') tagged`;

/** Sums of one kind: how rows make them, and where they are stored. */
interface Kind {
  readonly table: string;
  readonly unit: "hour" | "day" | "span" | "week";
  readonly unitMs: number;
  /** The columns of the key besides the unit. */
  readonly key: readonly string[];
  readonly amounts: readonly string[];
  /** Selects the unit, the key and the amounts of each row from `row`. */
  readonly ofRows: string;
  /** Selects the same of the stored sums. */
  readonly stored: string;
}

function unitOf(unitMs: number): string {
  return `floor(started_at_ms / ${unitMs}.0)::integer`;
}

function cellKind(
  table: string,
  unit: "hour" | "day",
  own: readonly string[],
  source: string,
): Kind {
  const unitMs = unit === "hour" ? HOUR_MS : DAY_MS;
  const added = ALL.map((column) => `${ADDED[column]} as ${column}`).join(", ");
  const owns = own.map((name) => (name === "customer" ? "end_user as customer" : name));
  return {
    table,
    unit,
    unitMs,
    key: [...own, ...CELL],
    amounts: ALL,
    ofRows: `select ${[`${unitOf(unitMs)} as ${unit}`, ...owns, OF_ROW, added].join(", ")} from row ${source}`,
    stored: `select ${[unit, ...own, ...CELL, ...ALL].join(", ")} from ${table} join spend_cell on id = cell`,
  };
}

const SUBJECTS = `cross join lateral (
  select 'all' as subject
  union all select 'organization:' || organization_id where organization_id <> ''
  union all select 'team:' || team_id where team_id <> ''
  union all select 'provider:' || split_part(target_id, '/', 1) where split_part(target_id, '/', 1) <> ''
  union all select distinct 'tag:' || value from jsonb_array_elements_text(tags) value where value <> '') of_row`;

const KINDS: readonly Kind[] = [
  cellKind("spend_hour", "hour", [], ""),
  cellKind("spend_day", "day", [], ""),
  cellKind("spend_tag_hour", "hour", ["tag"], TAGS),
  cellKind("spend_customer_day", "day", ["customer"], "where end_user <> ''"),
  {
    table: "spend_total",
    unit: "span",
    unitMs: TOTAL_MS,
    key: ["subject", "model", "model_group"],
    amounts: ["nano_usd"],
    ofRows: `select ${unitOf(TOTAL_MS)} as span, subject, coalesce(model, '') as model, coalesce(model_group, '') as model_group,
      ${safe("cost_nano_usd")} as nano_usd from row ${SUBJECTS} where cost_nano_usd <> 0`,
    stored: "select span, subject, model, model_group, nano_usd from spend_total",
  },
];

/** The quarters of an hour in a week. */
const SPANS = WEEK_MS / TOTAL_MS;

/** Sums by week are compared with those that they are made of, which are compared with the rows. */
const WEEKS: readonly Kind[] = [
  {
    table: "spend_week",
    unit: "week",
    unitMs: WEEK_MS,
    key: CELL,
    amounts: ALL,
    ofRows: `select ${[`floor(day / ${WEEK_DAYS}.0)::integer as week`, ...CELL, ...ALL].join(", ")} from spend_day join spend_cell on id = cell
      where day >= $1::bigint / ${DAY_MS} and day < $2::bigint / ${DAY_MS} and day < ${nextWeek(CELLS)} * ${WEEK_DAYS}`,
    stored: `select ${["week", ...CELL, ...ALL].join(", ")} from spend_week join spend_cell on id = cell`,
  },
  {
    table: "spend_total_week",
    unit: "week",
    unitMs: WEEK_MS,
    key: ["subject", "model", "model_group"],
    amounts: ["nano_usd"],
    ofRows: `select floor(span / ${SPANS}.0)::integer as week, subject, model, model_group, nano_usd from spend_total
      where span >= $1::bigint / ${TOTAL_MS} and span < $2::bigint / ${TOTAL_MS} and span < ${nextWeek(TOTALS)} * ${SPANS}`,
    stored: "select week, subject, model, model_group, nano_usd from spend_total_week",
  },
];

const STATEMENTS = KINDS.map((kind) => ({ kind, text: statementOf(kind) }));
const OF_WEEKS = WEEKS.map((kind) => ({ kind, text: statementOf(kind) }));

/** Joins the sums of rows with the stored ones; returns the counts and the first differences. */
function statementOf({ unit, unitMs, key, amounts, ofRows, stored }: Kind): string {
  const keys = [unit, ...key];
  const sums = amounts.map((name) => `sum(${name}) as ${name}`).join(", ");
  const pairs = amounts.flatMap((name) => [
    `coalesce(stored.${name}, 0)::text as stored_${name}`,
    `coalesce(made.${name}, 0)::text as made_${name}`,
  ]);
  const differing = amounts
    .map((name) => `(coalesce(stored.${name}, 0) <> coalesce(made.${name}, 0))::integer`)
    .join(" + ");
  return `with row as (${ROWS}),
    made as (select ${keys.join(", ")}, ${sums} from (${ofRows}) of_rows group by ${keys.join(", ")}),
    stored as (select ${keys.join(", ")}, ${sums} from (${stored}) stored_sums
      where ${unit} >= $1::bigint / ${unitMs} and ${unit} < $2::bigint / ${unitMs} group by ${keys.join(", ")}),
    joined as materialized (select ${keys.join(", ")}, ${pairs.join(", ")}, ${differing} as differing
      from made full join stored using (${keys.join(", ")}))
    select (select count(*) from joined) as sums, (select coalesce(sum(differing), 0) from joined)::integer as total, first.*
    from (select 1) one left join lateral (select * from joined where differing > 0 limit ${MAX_DIFFERENCES}) first on true`;
}

type Found = Readonly<Record<string, string | number | null>> & {
  readonly sums: number;
  readonly total: number;
};

/** A span of time: whole UTC days, the end is exclusive. */
export interface VerifiedSpan {
  readonly fromMs?: number;
  readonly toMs?: number;
}

/**
 * Compares the days of a span. Each day is one snapshot. Rejects with the signal's reason, and with
 * `deadline_exceeded` for a day that takes longer than the place allows.
 */
export async function compareSums(
  place: ReadPlace,
  { fromMs = -Infinity, toMs = Infinity }: VerifiedSpan,
  signal: AbortSignal,
): Promise<SumsCheck> {
  const { prunedMs, ...found } = await readWithin(place, signal, async (reading) => ({
    prunedMs: await prunedBefore(reading),
    ...(await daysOf(reading)),
  }));
  const first = Math.max(found.first, Math.floor(Math.max(fromMs, prunedMs) / DAY_MS));
  const end = Math.min(found.end, Math.ceil(toMs / DAY_MS));
  const check = { rows: 0, sums: 0, total: 0, differences: [] as SumDifference[] };
  const add = ({ rows, sums, total, differences }: SumsCheck): void => {
    check.rows += rows;
    check.sums += sums;
    check.total += total;
    check.differences.push(...differences.slice(0, MAX_DIFFERENCES - check.differences.length));
  };
  for (let day = first; day < end; day++) {
    // oxlint-disable-next-line no-await-in-loop -- one day after the other.
    add(await readWithin(place, signal, (reading) => compareDay(reading, day)));
  }
  const begin = Math.max(found.first, Math.floor(fromMs / DAY_MS));
  for (let week = Math.floor(begin / WEEK_DAYS); week < Math.ceil(end / WEEK_DAYS); week++) {
    // oxlint-disable-next-line no-await-in-loop -- one week after the other.
    add(await readWithin(place, signal, (reading) => compareWeek(reading, week)));
  }
  const pruned = Number.isFinite(prunedMs) && { prunedBeforeMs: prunedMs };
  return { ...check, ...pruned };
}

/** The days that may have rows or sums, the end exclusive. Each of them is read from an index. */
async function daysOf(reading: Reading): Promise<{ readonly first: number; readonly end: number }> {
  const { rows } = await reading.query<{ first: number | null; last: number | null }>(
    `select min(day)::integer as first, max(day)::integer as last from (
       select floor(min(hour) / 24.0) as day from spend_hour union all select floor(max(hour) / 24.0) from spend_hour
       union all select floor(min(hour) / 24.0) from spend_tag_hour union all select floor(max(hour) / 24.0) from spend_tag_hour
       union all select min(day) from spend_day union all select max(day) from spend_day
       union all select min(week) * ${WEEK_DAYS} from spend_week union all select max(week) * ${WEEK_DAYS} from spend_week
       union all select min(week) * ${WEEK_DAYS} from spend_total_week where subject = 'all'
       union all select max(week) * ${WEEK_DAYS} from spend_total_week where subject = 'all'
       union all select min(day) from spend_customer_day union all select max(day) from spend_customer_day
       union all select floor(min(span) / 96.0) from spend_total where subject = 'all'
       union all select floor(max(span) / 96.0) from spend_total where subject = 'all') days`,
  );
  const ids = await reading.query<{ readonly id: string }>(
    `(select request_id as id from ledger order by request_id limit 1)
     union all (select request_id from ledger order by request_id desc limit 1)`,
  );
  const days = [rows[0]?.first, rows[0]?.last, ...ids.rows.map(({ id }) => dayOf(timeOfId(id)))];
  const known = days.filter((day) => typeof day === "number");
  if (known.length === 0) return { first: 0, end: 0 };
  // A row begins within a day of its id.
  return { first: Math.min(...known), end: Math.max(...known) + 2 };
}

async function compareDay(reading: Reading, day: number): Promise<SumsCheck> {
  const [fromMs, toMs] = [day * DAY_MS, (day + 1) * DAY_MS];
  const span = [fromMs, toMs, firstIdOf(fromMs - DAY_MS), firstIdOf(toMs)];
  const counted = await reading.query<{ readonly rows: number }>(
    `select count(*) as rows from (${ROWS}) day`,
    span,
  );
  return { rows: counted.rows[0]?.rows ?? 0, ...(await compareKinds(reading, STATEMENTS, span)) };
}

async function compareWeek(reading: Reading, week: number): Promise<SumsCheck> {
  const [fromMs, toMs] = [week * WEEK_MS, (week + 1) * WEEK_MS];
  const span = [fromMs, toMs, firstIdOf(fromMs), firstIdOf(toMs)];
  return { rows: 0, ...(await compareKinds(reading, OF_WEEKS, span)) };
}

async function compareKinds(
  reading: Reading,
  statements: typeof STATEMENTS,
  span: readonly unknown[],
): Promise<Omit<SumsCheck, "rows">> {
  let [sums, total] = [0, 0];
  const differences: SumDifference[] = [];
  for (const { kind, text } of statements) {
    // oxlint-disable-next-line no-await-in-loop -- one connection.
    const found = (await reading.query<Found>(text, [...span])).rows;
    sums += found[0]?.sums ?? 0;
    total += found[0]?.total ?? 0;
    differences.push(...found.flatMap((row) => differencesOf(row, kind)));
  }
  return { sums, differences, total };
}

function differencesOf(row: Found, { table, unit, unitMs, key, amounts }: Kind): SumDifference[] {
  if ((row["differing"] ?? null) === null) return [];
  const startMs = Number(row[unit]) * unitMs;
  const ids = key.map((name) => String(row[name] ?? ""));
  return amounts.flatMap((amount) => {
    const [stored, ofRows] = [`stored_${amount}`, `made_${amount}`].map((name) =>
      BigInt(row[name] ?? 0),
    );
    return stored === ofRows
      ? []
      : [{ sums: table, startMs, ids, amount, stored: stored ?? 0n, ofRows: ofRows ?? 0n }];
  });
}
