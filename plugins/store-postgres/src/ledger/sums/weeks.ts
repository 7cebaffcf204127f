/**
 * Sums by week: their tables, and the job that adds them up. An insert of rows of the last days
 * does nothing for them. Rows that come later are added by a trigger on the sums by day, whatever
 * the version of the process that writes.
 */

import type { StoreJob } from "@sluice/contract";
import { ROLL_AFTER_DAYS, WEEK_DAYS } from "@sluice/store-sql/weeks";
import type { Pool, PoolClient } from "pg";
import { inTransaction } from "../../transaction.ts";
import { AMOUNTS } from "./amounts.ts";

const HOUR_MS = 3_600_000;
/** The advisory lock of those who change sums by week. */
const LOCK = 7_358_003;
/**
 * Rows of a day before so many days are late. The days between this and `ROLL_AFTER_DAYS` are those
 * that a transaction may take from its begin, by which a row is late or not, to its commit.
 */
const LATE_AFTER_DAYS = 2;

const NAMES = AMOUNTS.map(({ column }) => column);
const TODAY = "floor(extract(epoch from transaction_timestamp()) / 86400)::integer";
const weekOf = (day: string): string => `floor(${day} / ${WEEK_DAYS}.0)::integer`;

/** The statements that make the tables and the triggers. No week is added up. */
export const WEEK_TABLES: readonly string[] = [
  `create table spend_week (week integer not null, cell bigint not null, ${NAMES.map((name) => `${name} bigint not null`).join(", ")},
    primary key (week, cell))`,
  // Weeks before this one are added up; without a row, none are.
  "create table spend_rolled (only_row boolean primary key default true check (only_row), next_week integer not null)",
  // `old` is null in an insert.
  `create function spend_week_late() returns trigger language plpgsql as $body$
   begin
     perform pg_advisory_xact_lock(${LOCK});
     if ${weekOf("new.day")} < (select next_week from spend_rolled) then
       insert into spend_week (week, cell, ${NAMES.join(", ")})
       values (${weekOf("new.day")}, new.cell, ${NAMES.map((name) => `new.${name} - coalesce(old.${name}, 0)`).join(", ")})
       on conflict (week, cell) do update set ${NAMES.map((name) => `${name} = spend_week.${name} + excluded.${name}`).join(", ")};
     end if;
     return null;
   end $body$`,
  ...["insert", "update"].map(
    (event) => `create trigger spend_day_late_${event} after ${event} on spend_day for each row
      when (new.day < ${TODAY} - ${LATE_AFTER_DAYS}) execute function spend_week_late()`,
  ),
];

/** The week behind the last one that is added up; null where none is. */
export const NEXT_WEEK = "(select next_week from spend_rolled)";

/** The job that adds up the days of weeks that ended, a week in each transaction. */
export function weeksJob(pool: Pool): StoreJob {
  return {
    name: "weeks",
    everyMs: HOUR_MS,
    async run({ signal }) {
      let rolled = 0;
      for (;;) {
        signal.throwIfAborted();
        // oxlint-disable-next-line no-await-in-loop -- one week after the other.
        if (!(await inTransaction(pool, rollNext))) break;
        rolled += 1;
      }
      return rolled === 0 ? undefined : `added up ${rolled} weeks of sums`;
    },
  };
}

/** Adds up the next week that has sums by day. Returns whether there was one. */
async function rollNext(client: PoolClient): Promise<boolean> {
  // Late rows wait for the lock, and the lock for late rows: both see what the other committed.
  await client.query("set local lock_timeout = '2s'");
  await client.query(`select pg_advisory_xact_lock(${LOCK})`);
  const { rows } = await client.query<{ readonly week: number | null }>(
    `select ${weekOf("min(day)")} as week from spend_day
     where day >= coalesce(${NEXT_WEEK} * ${WEEK_DAYS}, -2147483648) and day < floor((${TODAY} - ${ROLL_AFTER_DAYS - 1}) / ${WEEK_DAYS}.0) * ${WEEK_DAYS}`,
  );
  const week = rows[0]?.week ?? null;
  if (week === null) return false;
  await client.query(
    `insert into spend_week (week, cell, ${NAMES.join(", ")})
     select $1::integer, cell, ${NAMES.map((name) => `sum(${name})`).join(", ")} from spend_day
     where day >= $1::integer * ${WEEK_DAYS} and day < ($1::integer + 1) * ${WEEK_DAYS} group by cell`,
    [week],
  );
  await client.query(
    `insert into spend_rolled (next_week) values ($1)
     on conflict (only_row) do update set next_week = excluded.next_week`,
    [week + 1],
  );
  return true;
}
