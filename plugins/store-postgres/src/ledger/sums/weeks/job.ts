/** The job that adds sums up by week. */

import type { StoreJob } from "@sluice/contract";
import { ROLL_AFTER_DAYS, SUBJECTS, WEEK_DAYS } from "@sluice/store-sql/weeks";
import type { Pool, PoolClient } from "pg";
import { inTransaction } from "../../../transaction.ts";
import { CELLS, LOCK, nextWeek, TODAY, TOTALS, weekOf, type WeekSums } from "./tables.ts";

const HOUR_MS = 3_600_000;

const inWeek = ({ unit, perWeek }: WeekSums): string =>
  `${unit} >= $1::integer * ${perWeek} and ${unit} < ($1::integer + 1) * ${perWeek}`;
const summed = ({ amounts }: WeekSums): string => amounts.map((name) => `sum(${name})`).join(", ");

/** The tables, each with the sums of the week `$1`, in the order of its key and amounts. */
const ROLLED: readonly { readonly sums: WeekSums; readonly ofWeek: string }[] = [
  {
    sums: CELLS,
    ofWeek: `select cell, ${summed(CELLS)} from spend_day where ${inWeek(CELLS)} group by cell`,
  },
  {
    sums: TOTALS,
    // No index begins with the time. The sums of a week are found subject by subject.
    ofWeek: `with recursive ${SUBJECTS}
      select name, week.* from subjects cross join lateral (
        select model, model_group, ${summed(TOTALS)} from spend_total
        where subject = name and ${inWeek(TOTALS)} group by model, model_group) week`,
  },
];

/** The job that adds up the sums of weeks that ended, a week of a table in each transaction. */
export function weeksJob(pool: Pool): StoreJob {
  return {
    name: "weeks",
    everyMs: HOUR_MS,
    async run({ signal }) {
      const rolled: string[] = [];
      for (const { sums, ofWeek } of ROLLED) {
        const rollOne = async (client: PoolClient) => rollNext(client, sums, ofWeek);
        let weeks = 0;
        for (;;) {
          signal.throwIfAborted();
          // oxlint-disable-next-line no-await-in-loop -- one week after the other.
          if (!(await inTransaction(pool, rollOne))) break;
          weeks += 1;
        }
        if (weeks > 0) rolled.push(`${weeks} weeks of ${sums.table}`);
      }
      return rolled.length === 0 ? undefined : `added up ${rolled.join(", ")}`;
    },
  };
}

/** Adds up the next week that has sums. Returns whether there was one. */
async function rollNext(client: PoolClient, sums: WeekSums, ofWeek: string): Promise<boolean> {
  const { table, marker, source, unit, perWeek, ofEachUnit, key, amounts } = sums;
  // Late rows wait for the lock, and the lock for late rows: both see what the other committed.
  await client.query("set local lock_timeout = '2s'");
  await client.query(`select pg_advisory_xact_lock(${LOCK})`);
  const { rows } = await client.query<{ readonly week: number | null }>(
    `select ${weekOf(sums, `min(${unit})`)} as week from ${source} where ${ofEachUnit}
     and ${unit} >= coalesce(${nextWeek(sums)} * ${perWeek}, -2147483648)
     and ${unit} < floor((${TODAY} - ${ROLL_AFTER_DAYS - 1}) / ${WEEK_DAYS}.0) * ${perWeek}`,
  );
  const week = rows[0]?.week ?? null;
  if (week === null) return false;
  await client.query(
    `insert into ${table} (week, ${[...key, ...amounts].join(", ")}) select $1::integer, of_week.* from (${ofWeek}) of_week`,
    [week],
  );
  await client.query(
    `insert into ${marker} (next_week) values ($1)
     on conflict (only_row) do update set next_week = excluded.next_week`,
    [week + 1],
  );
  return true;
}
