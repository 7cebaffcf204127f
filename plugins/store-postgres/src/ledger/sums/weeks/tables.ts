/**
 * The tables of sums by week. An insert of rows of the last days does nothing for them. Rows that
 * come later are added by a trigger on the sums that a week is added up from, whatever the version
 * of the process that writes.
 */

import { CELL_WEEKS, TOTAL_WEEKS, WEEK_DAYS, type WeekTable } from "@sluice/store-sql/weeks";
import { AMOUNTS } from "../amounts.ts";

/** The advisory lock of those who change sums by week. */
export const LOCK = 7_358_003;
/**
 * Rows of a day before so many days are late. The days between this and `ROLL_AFTER_DAYS` are those
 * that a transaction may take from its begin, by which a row is late or not, to its commit.
 */
const LATE_AFTER_DAYS = 2;

const TEXT = 'text collate "C" not null';

/** The day of a transaction's begin. */
export const TODAY = "floor(extract(epoch from transaction_timestamp()) / 86400)::integer";

/** A table of sums by week, with its columns. */
export interface WeekSums extends WeekTable {
  /** The columns of the key besides the week, and the types of all. */
  readonly key: readonly string[];
  readonly types: string;
  readonly primaryKey: string;
  readonly amounts: readonly string[];
}

export const CELLS: WeekSums = {
  ...CELL_WEEKS,
  key: ["cell"],
  types: "week integer not null, cell bigint not null",
  primaryKey: "week, cell",
  amounts: AMOUNTS.map(({ column }) => column),
};

export const TOTALS: WeekSums = {
  ...TOTAL_WEEKS,
  key: ["subject", "model", "model_group"],
  types: `subject ${TEXT}, week integer not null, model ${TEXT}, model_group ${TEXT}`,
  // A budget reads the weeks of a subject.
  primaryKey: "subject, week, model, model_group",
  amounts: ["nano_usd"],
};

/** The week of a unit of the sums that a table is made of. */
export const weekOf = ({ perWeek }: WeekTable, unit: string): string =>
  `floor(${unit} / ${perWeek}.0)::integer`;

/** The week behind the last one that is added up; null where none is. */
export const nextWeek = ({ marker }: WeekTable): string => `(select next_week from ${marker})`;

/** The statements that make a table and its triggers. No week is added up. */
export function weekTable(sums: WeekSums): readonly string[] {
  const { table, marker, source, unit, perWeek, key, types, primaryKey, amounts } = sums;
  const week = weekOf(sums, `new.${unit}`);
  return [
    `create table ${table} (${types}, ${amounts.map((name) => `${name} bigint not null`).join(", ")},
    primary key (${primaryKey}))`,
    // Weeks before this one are added up; without a row, none are.
    `create table ${marker} (only_row boolean primary key default true check (only_row), next_week integer not null)`,
    // `old` is null in an insert.
    `create function ${table}_late() returns trigger language plpgsql as $body$
   begin
     perform pg_advisory_xact_lock(${LOCK});
     if ${week} < ${nextWeek(sums)} then
       insert into ${table} (week, ${[...key, ...amounts].join(", ")})
       values (${[week, ...key.map((name) => `new.${name}`), ...amounts.map((name) => `new.${name} - coalesce(old.${name}, 0)`)].join(", ")})
       on conflict (${primaryKey}) do update set ${amounts.map((name) => `${name} = ${table}.${name} + excluded.${name}`).join(", ")};
     end if;
     return null;
   end $body$`,
    ...["insert", "update"].map(
      (event) => `create trigger ${source}_late_${event} after ${event} on ${source} for each row
      when (new.${unit} < (${TODAY} - ${LATE_AFTER_DAYS}) * ${perWeek / WEEK_DAYS}) execute function ${table}_late()`,
    ),
  ];
}
