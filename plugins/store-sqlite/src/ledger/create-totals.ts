/** The table of totals of earlier versions, as their migration made it. */

import { type Kysely, sql } from "kysely";
import type { Schema } from "@sluice/store-sql";

/** The length of a span, in milliseconds. */
const TOTAL_MS = 900_000;

const PROVIDER =
  "case instr(target_id, '/') when 0 then target_id else substr(target_id, 1, instr(target_id, '/') - 1) end";

/** The subjects of a row, as the table names them, and the conditions under which it has them. */
const SUBJECTS = [
  { subject: "'all'", having: "1" },
  { subject: "'key:' || key_id", having: "key_id is not null" },
  { subject: "'user:' || user_id", having: "user_id is not null" },
  { subject: "'team:' || team_id", having: "team_id is not null" },
  { subject: `'provider:' || ${PROVIDER}`, having: "target_id is not null" },
] as const;

/** Makes the table and fills it from the rows that are there. */
export async function createTotals(database: Kysely<Schema>): Promise<void> {
  const run = async (text: string): Promise<unknown> => sql.raw(text).execute(database);
  await run(`create table spent (
      subject text not null, span integer not null, nano_usd integer not null, primary key (subject, span)
    ) without rowid`);
  const counted = "cost_nano_usd <> 0 and started_at_ms is not null";
  const span = `cast(started_at_ms / ${TOTAL_MS} as integer)`;
  for (const { subject, having } of SUBJECTS) {
    await run(`insert into spent select ${subject}, ${span}, sum(cost_nano_usd) from ledger
      where ${counted} and ${having} group by 1, 2`);
  }
  await run(`insert into spent select 'tag:' || each.value, ${span}, sum(cost_nano_usd)
    from ledger, json_each(ledger.tags) each where ${counted} and ledger.tags is not null
      and not exists (select 1 from json_each(ledger.tags) earlier where earlier.value = each.value and earlier.key < each.key)
    group by 1, 2`);
}
