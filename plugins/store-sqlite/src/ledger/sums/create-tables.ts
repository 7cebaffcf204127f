/** The tables of sums, as a migration makes them. `fill.ts` fills them. */

import { type Kysely, sql } from "kysely";
import { AMOUNT_COLUMNS } from "./amounts.ts";

/**
 * Makes the tables of sums in place of the totals of earlier versions, and notes the time of the
 * rows that the sums lack. Without the table `spent`, a process of an earlier version cannot write
 * rows that the sums would lack: its rows wait in its outbox.
 */
export async function createSums(database: Kysely<unknown>): Promise<void> {
  const run = async (text: string): Promise<unknown> => sql.raw(text).execute(database);
  await run("drop table spent");
  // An id that a row does not have is an empty text, so that a unique index includes it.
  await run(`create table spend_model (
      id integer primary key, model text not null, model_group text not null, unique (model, model_group)
    )`);
  await run(`create table spend_cell (
      id integer primary key, organization_id text not null, team_id text not null, user_id text not null,
      key_id text not null, model_id integer not null, provider text not null,
      unique (key_id, model_id, provider, team_id, user_id, organization_id)
    )`);
  for (const column of ["organization_id", "team_id", "user_id"])
    await run(`create index spend_cell_by_${column} on spend_cell (${column})`);
  await run("create table spend_tag (id integer primary key, tag text not null unique)");
  const amounts = AMOUNT_COLUMNS.map((name) => `${name} integer not null`).join(", ");
  const table = async (name: string, columns: string, index: string): Promise<void> => {
    const keys = columns.replaceAll(/ \w+ not null/g, "");
    await run(`create table ${name} (${columns}, ${amounts}, primary key (${keys})) without rowid`);
    // A report reads spans of time, a budget reads what is one scope's.
    await run(`create index ${name}_by_name on ${name} (${index})`);
  };
  await table("spend_hour", "hour integer not null, cell integer not null", "cell, hour");
  await table(
    "spend_tag_hour",
    "hour integer not null, tag integer not null, cell integer not null",
    "tag, hour",
  );
  await table(
    "spend_customer_day",
    "day integer not null, customer text not null, cell integer not null",
    "customer, day",
  );
  await run(`create table spend_total (
      subject text not null, span integer not null, model_id integer not null, nano_usd integer not null,
      primary key (subject, span, model_id)
    ) without rowid`);
  await run("create table spend_fill (next_ms integer not null, end_ms integer not null)");
  await run(`insert into spend_fill select min(started_at_ms), max(started_at_ms) + 1 from ledger
    where started_at_ms is not null having count(*) > 0`);
}
