/** The job that adds sums up by week. */

import type { StoreJob } from "@sluice/contract";
import { endOfRolledWeeks, SUBJECTS } from "@sluice/store-sql/weeks";
import { setImmediate as yieldToLoop } from "node:timers/promises";
import type { RunTransaction } from "../../../statements.ts";
import { CELLS, TOTALS, weekOf, type WeekSums } from "./tables.ts";

const EVERY_MS = 3_600_000;

/** The statements that add up the next week of a table, and note it. Their parameter is the end. */
function rollOf(sums: WeekSums, from: string): readonly [roll: string, note: string] {
  const { table, marker, source, unit, perWeek, ofEachUnit, key, amounts } = sums;
  const next = `select ${weekOf(sums, `min(${unit})`)} as week from ${source} where ${ofEachUnit}
    and ${unit} >= ifnull((select next_week from ${marker}) * ${perWeek}, -2147483648) and ${unit} < ? * ${perWeek}`;
  const names = Object.keys(key).join(", ");
  return [
    `with recursive next as (${next}), ${SUBJECTS}
     insert into ${table} (${[names, ...amounts].join(", ")})
     select ${[names, ...amounts.map((name) => `sum(${name})`)].join(", ")} from next cross join ${from}
     and ${unit} >= week * ${perWeek} and ${unit} < (week + 1) * ${perWeek} group by ${names}`,
    `insert into ${marker} (only_row, next_week)
     select 1, week + 1 from (${next}) where week is not null
     on conflict (only_row) do update set next_week = excluded.next_week`,
  ];
}

const ROLLED = [
  { sums: CELLS, statements: rollOf(CELLS, "spend_day on true") },
  {
    sums: TOTALS,
    // No index begins with the time. The sums of a week are found subject by subject.
    statements: rollOf(TOTALS, "subjects cross join spend_total on subject = name"),
  },
];

/** The job that adds up the sums of weeks that ended, a week of a table in each transaction. */
export function weeksJob(run: RunTransaction, now: () => number): StoreJob {
  return {
    name: "weeks",
    everyMs: EVERY_MS,
    async run({ signal }) {
      const parameters = [endOfRolledWeeks(now())];
      const rolled: string[] = [];
      for (const { sums, statements } of ROLLED) {
        let weeks = 0;
        for (;;) {
          signal.throwIfAborted();
          // oxlint-disable-next-line no-await-in-loop -- one week after the other.
          const [, noted] = await run(statements.map((sql) => ({ sql, parameters })));
          if (noted?.changes !== 1) break;
          weeks += 1;
          // oxlint-disable-next-line no-await-in-loop -- in memory, nothing else gives way.
          await yieldToLoop();
        }
        if (weeks > 0) rolled.push(`${weeks} weeks of ${sums.table}`);
      }
      return rolled.length === 0 ? undefined : `added up ${rolled.join(", ")}`;
    },
  };
}
