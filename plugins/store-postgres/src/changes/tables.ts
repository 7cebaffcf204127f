/**
 * The log of changes: triggers write a row for each record that a statement changed, in the
 * transaction of the change. A reader finds rows by the snapshot of its last read, so that no lock
 * orders the commits: `log.ts`.
 */

/** The channel of the notifications. They only wake readers, and may be lost. */
export const CHANNEL = "sluice_changes";

/** Records that one statement names. Of more, it names the kind alone. */
const MAX_NAMED = 1_000;

const TABLES = [
  "create table record_change_pruned (only_row boolean primary key default true check (only_row), xid bigint not null)",
  "insert into record_change_pruned (xid) values (0)",
  `create table record_change (
    seq bigint generated always as identity primary key,
    xid bigint not null default (pg_current_xact_id()::text::bigint),
    kind text collate "C" not null, ids text[],
    at timestamptz not null default clock_timestamp())`,
  "create index record_change_by_xid on record_change (xid)",
];

/** The kind and the id of the records of a table. */
const NOTED = [
  { table: "virtual_key", kind: "key", ids: "id" },
  { table: "team", kind: "team", ids: "id" },
  { table: "organization", kind: "organization", ids: "id" },
  { table: "tenant_user", kind: "user", ids: "id" },
  { table: "membership", kind: "membership", ids: "user_id, team_id" },
  { table: "customer", kind: "customer", ids: "organization_id, id" },
  { table: "budget", kind: "budget", ids: "id" },
  { table: "access_group", kind: "access_group", ids: "id" },
  { table: "owned_tag", kind: "tag", ids: "tag" },
] as const;

/** A statement has one trigger for each event: a transition table belongs to one. */
const EVENTS = [
  { event: "insert", rows: "new" },
  { event: "update", rows: "new" },
  { event: "delete", rows: "old" },
] as const;

const TRIGGERS = NOTED.flatMap(({ table, kind, ids }) => [
  `create function ${table}_noted() returns trigger language plpgsql as $body$
   declare number integer;
   begin
     select count(*) into number from (select 1 from changed limit ${MAX_NAMED + 1}) few;
     if number = 0 then return null; end if;
     if number > ${MAX_NAMED} then insert into record_change (kind, ids) values ('${kind}', null);
     else insert into record_change (kind, ids) select distinct '${kind}', array[${ids}] from changed;
     end if;
     perform pg_notify('${CHANNEL}', '');
     return null;
   end $body$`,
  ...EVENTS.map(
    ({ event, rows }) =>
      `create trigger ${table}_noted_${event} after ${event} on ${table} referencing ${rows} table as changed
       for each statement execute function ${table}_noted()`,
  ),
]);

/** The statements that make the log. */
export const CHANGE_TABLES: readonly string[] = [...TABLES, ...TRIGGERS];
