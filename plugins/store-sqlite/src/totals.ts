/** Totals of the ledger: what each subject has spent in each quarter of an hour, so that no budget begins with a walk over all rows. */

import { type Kysely, sql } from "kysely";
import type { Schema } from "./schema.ts";

/** The length of a total's span. Every time zone's days begin at a quarter of an hour. */
export const TOTAL_MS = 900_000;

const PROVIDER = "case instr(target_id, '/') when 0 then target_id else substr(target_id, 1, instr(target_id, '/') - 1) end";

/** The subjects of a row, as the table names them, and the conditions under which it has them. */
const SUBJECTS = [
  { subject: "'all'", having: "1" },
  { subject: "'key:' || key_id", having: "key_id is not null" },
  { subject: "'user:' || user_id", having: "user_id is not null" },
  { subject: "'team:' || team_id", having: "team_id is not null" },
  { subject: `'provider:' || ${PROVIDER}`, having: "target_id is not null" },
] as const;

const COLUMN = /\b(key_id|user_id|team_id|target_id)\b/g;
const ofNew = (term: string): string => term.replaceAll(COLUMN, "new.$1");

/**
 * Makes the table, fills it from the rows that are there, and adds the trigger that keeps it. The trigger runs in the
 * transaction of the insert, and not for a row that was there before; so the totals are exact, also for rows that an older
 * version of the gateway writes to this file.
 */
export async function createTotals(database: Kysely<Schema>): Promise<void> {
  const run = async (text: string): Promise<unknown> => sql.raw(text).execute(database);
  await run(`create table spent (
      subject text not null, span integer not null, nano_usd integer not null, primary key (subject, span)
    ) without rowid`);
  const counted = "cost_nano_usd <> 0 and started_at_ms is not null";
  const span = (column: string): string => `cast(${column} / ${TOTAL_MS} as integer)`;
  for (const { subject, having } of SUBJECTS) {
    await run(`insert into spent select ${subject}, ${span("started_at_ms")}, sum(cost_nano_usd) from ledger
      where ${counted} and ${having} group by 1, 2`);
  }
  await run(`insert into spent select 'tag:' || each.value, ${span("started_at_ms")}, sum(cost_nano_usd)
    from ledger, json_each(ledger.tags) each where ${counted} and ledger.tags is not null
      and not exists (select 1 from json_each(ledger.tags) earlier where earlier.value = each.value and earlier.key < each.key)
    group by 1, 2`);
  const subjects = SUBJECTS.map(({ subject, having }) => `select ${ofNew(subject)} as subject where ${ofNew(having)}`);
  subjects.push("select distinct 'tag:' || value from json_each(new.tags)");
  await run(`create trigger ledger_totals after insert on ledger
    when new.cost_nano_usd <> 0 and new.started_at_ms is not null
    begin
      insert into spent select subject, ${span("new.started_at_ms")}, cast(new.cost_nano_usd as integer)
        from (${subjects.join(" union all ")}) where true
        on conflict (subject, span) do update set nano_usd = nano_usd + excluded.nano_usd;
    end`);
}
