/**
 * Owned tags: those that stand on the record of a key or a tenant, kept by the file itself for each
 * change of a record.
 */

import { type Kysely, sql } from "kysely";

/**
 * Adds the column of the tags that a record may name, the table of owned tags, and the triggers
 * that keep it.
 */
export async function createOwnedTags(database: Kysely<unknown>): Promise<void> {
  const run = async (text: string): Promise<unknown> => sql.raw(text).execute(database);
  await run(
    "create table owned_tag (tag text not null, owner text not null, primary key (tag, owner)) without rowid",
  );
  await run("create index owned_tag_by_owner on owned_tag (owner)");
  for (const table of ["virtual_key", "team"]) {
    await run(`alter table ${table} add column allowed_tags text not null default '[]'`);
    await run(
      `insert or ignore into owned_tag select each.value, '${table}:' || ${table}.id from ${table}, json_each(tags) each`,
    );
    await keepOwnedTags(run, table, (row) => `${row}id`);
  }
}

/** Adds the triggers of one table. `id` is the id of a row, in SQL, of `new.` or `old.`. */
export async function keepOwnedTags(
  run: (text: string) => Promise<unknown>,
  table: string,
  id: (row: "new." | "old.") => string,
): Promise<void> {
  const owner = (row: "new." | "old."): string => `'${table}:' || ${id(row)}`;
  const add = `insert or ignore into owned_tag select value, ${owner("new.")} from json_each(new.tags)`;
  const remove = `delete from owned_tag where owner = ${owner("old.")}`;
  await run(`create trigger ${table}_tags_insert after insert on ${table} begin ${add}; end`);
  await run(`create trigger ${table}_tags_update after update of tags on ${table}
    begin ${remove}; ${add}; end`);
  await run(`create trigger ${table}_tags_delete after delete on ${table} begin ${remove}; end`);
}
