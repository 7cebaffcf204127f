/** Makes a table of sums by week, kept by the database from its source once a week is added up. */

import { type Kysely, sql } from "kysely";
import { weekOf, type WeekSums } from "./tables.ts";

/**
 * Makes the tables, and triggers that add what sums of such weeks gain: rows may come late. They
 * hold for every process that writes, also for one of an earlier version. No week is added up.
 */
export async function createWeeks(database: Kysely<unknown>, sums: WeekSums): Promise<void> {
  const run = async (text: string): Promise<unknown> => sql.raw(text).execute(database);
  const { table, marker, source, unit, perWeek, key, amounts } = sums;
  const names = Object.keys(key);
  const columns = [
    ...Object.entries(key).map(([name, type]) => `${name} ${type} not null`),
    ...amounts.map((name) => `${name} integer not null`),
  ];
  await run(
    `create table ${table} (${columns.join(", ")}, primary key (${names.join(", ")})) without rowid`,
  );
  // Weeks before this one are added up; without a row, none are.
  await run(
    `create table ${marker} (only_row integer primary key check (only_row = 1), next_week integer not null)`,
  );
  const week = weekOf(sums, `new.${unit}`);
  const ofKey = names.map((name) => (name === "week" ? week : `new.${name}`));
  const added = amounts.map((name) => `${name} = ${name} + excluded.${name}`).join(", ");
  for (const [event, value] of [
    ["insert", (name: string) => `new.${name}`],
    ["update", (name: string) => `new.${name} - old.${name}`],
  ] as const)
    await run(
      `create trigger ${table}_after_${event} after ${event} on ${source}
       when new.${unit} < (select next_week * ${perWeek} from ${marker}) begin
         insert into ${table} (${[...names, ...amounts].join(", ")}) values (${[...ofKey, ...amounts.map(value)].join(", ")})
         on conflict (${names.join(", ")}) do update set ${added};
       end`,
    );
}
