/** Sums by week, kept by the database from those by day once a week is added up. */

import { type Kysely, sql } from "kysely";
import { AMOUNT_COLUMNS } from "./amounts.ts";
import { weekOf } from "./weeks.ts";

/**
 * Makes the tables, and triggers that add what days of such weeks gain: rows may come late. They
 * hold for every process that writes, also for one of an earlier version. No week is added up.
 */
export async function createSpendWeeks(database: Kysely<unknown>): Promise<void> {
  const run = async (text: string): Promise<unknown> => sql.raw(text).execute(database);
  const columns = AMOUNT_COLUMNS.join(", ");
  const amounts = AMOUNT_COLUMNS.map((name) => `${name} integer not null`).join(", ");
  const added = AMOUNT_COLUMNS.map((name) => `${name} = ${name} + excluded.${name}`).join(", ");
  await run(
    `create table spend_week (week integer not null, cell integer not null, ${amounts}, primary key (week, cell)) without rowid`,
  );
  // Weeks before this one are added up; without a row, none are.
  await run(
    "create table spend_rolled (only_row integer primary key check (only_row = 1), next_week integer not null)",
  );
  const trigger = (event: string, values: string): Promise<unknown> =>
    run(
      `create trigger spend_week_after_${event} after ${event} on spend_day
       when ${weekOf("new.day")} < (select next_week from spend_rolled) begin
         insert into spend_week (week, cell, ${columns}) values (${weekOf("new.day")}, new.cell, ${values})
         on conflict (week, cell) do update set ${added};
       end`,
    );
  await trigger("insert", AMOUNT_COLUMNS.map((name) => `new.${name}`).join(", "));
  await trigger("update", AMOUNT_COLUMNS.map((name) => `new.${name} - old.${name}`).join(", "));
}
