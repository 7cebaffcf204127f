/** Sums by UTC day, kept by the database from those by hour. */

import { type Kysely, sql } from "kysely";
import { AMOUNT_COLUMNS } from "./amounts.ts";

/** The day of an hour, also of one before 1970: SQLite's division goes towards zero. */
const dayOf = (hour: string): string => `(${hour} - (${hour} % 24 + 24) % 24) / 24`;

/**
 * Makes the table, fills it from the hours, and makes triggers that add what hours gain. They hold
 * for every process that writes, also for one of an earlier version.
 */
export async function createSpendDays(database: Kysely<unknown>): Promise<void> {
  const run = async (text: string): Promise<unknown> => sql.raw(text).execute(database);
  const columns = AMOUNT_COLUMNS.join(", ");
  const amounts = AMOUNT_COLUMNS.map((name) => `${name} integer not null`).join(", ");
  const added = AMOUNT_COLUMNS.map((name) => `${name} = ${name} + excluded.${name}`).join(", ");
  await run(
    `create table spend_day (day integer not null, cell integer not null, ${amounts}, primary key (day, cell)) without rowid`,
  );
  await run(
    `insert into spend_day (day, cell, ${columns})
     select ${dayOf("hour")}, cell, ${AMOUNT_COLUMNS.map((name) => `sum(${name})`).join(", ")} from spend_hour group by 1, 2`,
  );
  const trigger = (event: string, values: string): Promise<unknown> =>
    run(
      `create trigger spend_day_after_${event} after ${event} on spend_hour begin
         insert into spend_day (day, cell, ${columns}) values (${dayOf("new.hour")}, new.cell, ${values})
         on conflict (day, cell) do update set ${added};
       end`,
    );
  await trigger("insert", AMOUNT_COLUMNS.map((name) => `new.${name}`).join(", "));
  await trigger("update", AMOUNT_COLUMNS.map((name) => `new.${name} - old.${name}`).join(", "));
}
