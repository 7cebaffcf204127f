/** Which weeks are added up, and the job that adds them up. */

import type { StoreJob } from "@sluice/contract";
import { endOfRolledWeeks, WEEK_DAYS } from "@sluice/store-sql/weeks";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { setImmediate as yieldToLoop } from "node:timers/promises";
import type { RunTransaction } from "../../statements.ts";
import { AMOUNT_COLUMNS } from "./amounts.ts";

const EVERY_MS = 3_600_000;

/** The week of a day, also of one before 1970: SQLite's division goes towards zero. */
export const weekOf = (day: string): string =>
  `(${day} - (${day} % ${WEEK_DAYS} + ${WEEK_DAYS}) % ${WEEK_DAYS}) / ${WEEK_DAYS}`;

/** Prepares the question which week is the first that is not added up; `-Infinity`: none are. */
export function createNextWeek(database: DatabaseSync): () => number {
  let read: StatementSync | undefined;
  return () => {
    read ??= database.prepare("select next_week from spend_rolled");
    return Number(read.get()?.["next_week"] ?? -Infinity);
  };
}

/** The next week that has sums by day, up to an end. */
const NEXT = `select ${weekOf("min(day)")} as week from spend_day
  where day >= ifnull((select next_week from spend_rolled), -300000000) * ${WEEK_DAYS} and day < ? * ${WEEK_DAYS}`;

const ROLL = `with next as (${NEXT})
  insert into spend_week (week, cell, ${AMOUNT_COLUMNS.join(", ")})
  select week, cell, ${AMOUNT_COLUMNS.map((name) => `sum(${name})`).join(", ")}
  from next cross join spend_day on day >= week * ${WEEK_DAYS} and day < (week + 1) * ${WEEK_DAYS} group by cell`;

const NOTE = `insert into spend_rolled (only_row, next_week)
  select 1, week + 1 from (${NEXT}) where week is not null
  on conflict (only_row) do update set next_week = excluded.next_week`;

/** The job that adds up the days of weeks that ended, a week in each transaction. */
export function weeksJob(run: RunTransaction, now: () => number): StoreJob {
  return {
    name: "weeks",
    everyMs: EVERY_MS,
    async run({ signal }) {
      const parameters = [endOfRolledWeeks(now())];
      let rolled = 0;
      for (;;) {
        signal.throwIfAborted();
        // oxlint-disable-next-line no-await-in-loop -- one week after the other.
        const [, noted] = await run([
          { sql: ROLL, parameters },
          { sql: NOTE, parameters },
        ]);
        if (noted?.changes !== 1) break;
        rolled += 1;
        // oxlint-disable-next-line no-await-in-loop -- in memory, nothing else gives way.
        await yieldToLoop();
      }
      return rolled === 0 ? undefined : `added up ${rolled} weeks of sums`;
    },
  };
}
