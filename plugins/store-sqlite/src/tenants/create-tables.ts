/** The tables of tenants, and what the file itself enforces: ids, references and borders. */

import { type Kysely, sql } from "kysely";
import { foldedTenantId } from "@sluice/contract";
import { keepOwnedTags } from "./owned-tags.ts";

type Run = (text: string) => Promise<unknown>;

/** The columns of a block of limits. Those of amounts come first. */
const AMOUNTS = `max_budget_nano_usd integer, soft_budget_nano_usd integer, budget_duration text,
  rpm integer, tpm integer, max_parallel_requests integer`;
const BLOCK = `alias text, models text not null default '[]', ${AMOUNTS},
  budget_anchor text not null default 'calendar', per_model text not null default '{}',
  budget_id text, budget_share text not null default 'each', tags text not null default '[]',
  allowed_tags text not null default '[]', metadata text not null default '{}',
  guardrails text not null default '[]', passthrough integer not null default 0,
  blocked integer not null default 0, expires_at_ms integer, imported_nano_usd integer,
  imported_at_ms integer`;
const ORIGIN = "managed_by text, created_at_ms integer not null";

const TABLES = [
  `create table organization (id text primary key, folded text not null, ${BLOCK}, self_service text, ${ORIGIN}) without rowid`,
  `create table tenant_user (id text primary key, folded text not null, ${BLOCK}, kind text not null default 'person',
    email text, email_folded text, organizations text not null default '[]', roles text not null default '[]', ${ORIGIN}) without rowid`,
  `create table membership (user_id text not null, team_id text not null, ${BLOCK},
    role text not null default 'member', ${ORIGIN}, primary key (user_id, team_id)) without rowid`,
  `create table customer (id text not null, organization_id text not null, ${BLOCK}, ${ORIGIN},
    primary key (id, organization_id)) without rowid`,
  `create table budget (id text primary key, folded text not null, organization_id text, ${AMOUNTS},
    budget_anchor text not null default 'calendar', per_model text not null default '{}', ${ORIGIN}) without rowid`,
  `create table access_group (id text primary key, folded text not null, organization_id text,
    models text not null default '[]', ${ORIGIN}) without rowid`,
  // Organizations of users, kept by triggers.
  `create table user_organization (organization_id text not null, user_id text not null,
    primary key (organization_id, user_id)) without rowid`,
  // Ids that were ever used, and what reports call those that are deleted. Kept by triggers.
  `create table kept_name (kind text not null, id text not null, folded text, alias text,
    organization_id text, team_id text, deleted_at_ms integer, primary key (kind, id)) without rowid`,
];

const COLUMNS = [
  "virtual_key add column organization_id text",
  "virtual_key add column customer_id text",
  "virtual_key add column may_name_customers integer not null default 1",
  "virtual_key add column admin integer not null default 0",
  // The organization that its team gives it, or its own; '' without one.
  "virtual_key add column effective_organization_id text not null default ''",
  "team add column expires_at_ms integer",
  "team add column organization_id text",
  "team add column model_aliases text not null default '{}'",
  "team add column user_budgets text not null default 'count'",
  "team add column member_defaults text not null default '{}'",
  "team add column self_service text",
  "team add column folded text not null default ''",
  ...["virtual_key", "team"].flatMap((table) => [
    `${table} add column budget_anchor text not null default 'calendar'`,
    `${table} add column per_model text not null default '{}'`,
    `${table} add column budget_id text`,
    `${table} add column budget_share text not null default 'each'`,
  ]),
];

/** Tables whose records refer to a budget, and the organization of such a record. */
const ORGANIZATION_OF: Readonly<Record<string, string>> = {
  organization: "new.id",
  team: "coalesce(new.organization_id, '')",
  membership: "(select coalesce(organization_id, '') from team where id = new.team_id)",
  customer: "new.organization_id",
  virtual_key: "new.effective_organization_id",
};
const WITH_BUDGET = [...Object.keys(ORGANIZATION_OF), "tenant_user"];

const INDEXES = [
  ...["organization", "tenant_user", "team", "budget", "access_group"].map(
    (table) => `create index ${table}_by_folded on ${table} (folded)`,
  ),
  ...WITH_BUDGET.map(
    (table) =>
      `create index ${table}_by_budget on ${table} (budget_id) where budget_id is not null`,
  ),
  "create index kept_name_by_folded on kept_name (kind, folded) where folded is not null",
  "create unique index organization_by_alias on organization (alias) where alias is not null",
  "create unique index team_by_alias on team (coalesce(organization_id, ''), alias) where alias is not null",
  "create unique index customer_by_alias on customer (organization_id, alias) where alias is not null",
  "drop index virtual_key_by_alias",
  "create unique index virtual_key_by_alias on virtual_key (alias, effective_organization_id) where alias is not null",
  "create unique index tenant_user_by_email on tenant_user (email_folded) where email_folded is not null",
  "create index tenant_user_by_alias on tenant_user (alias) where alias is not null",
  "create index membership_by_team on membership (team_id, user_id)",
  "create index customer_by_organization on customer (organization_id, id)",
  "create index team_by_organization on team (organization_id, id) where organization_id is not null",
  "create index budget_by_organization on budget (organization_id, id) where organization_id is not null",
  "create index access_group_by_organization on access_group (organization_id, id) where organization_id is not null",
  "create index user_organization_by_user on user_organization (user_id)",
  "create index virtual_key_by_organization on virtual_key (effective_organization_id)",
  "create index virtual_key_by_customer on virtual_key (customer_id) where customer_id is not null",
];

/** Makes the tables, and adds the columns of keys and teams. */
export async function createTenantTables(database: Kysely<unknown>): Promise<void> {
  const run: Run = async (text) => sql.raw(text).execute(database);
  for (const text of TABLES) await run(text);
  for (const column of COLUMNS) await run(`alter table ${column}`);
  await foldTeams(database);
  for (const text of INDEXES) await run(text);
  await keepIds(run);
  await keepOrganizations(run);
  await keepBudgets(run);
  await keepDeletions(run);
  for (const [table, id] of TAG_OWNERS) await keepOwnedTags(run, table, id);
}

const TAG_OWNERS: readonly (readonly [string, (row: string) => string])[] = [
  ["organization", (row) => `${row}id`],
  ["tenant_user", (row) => `${row}id`],
  ["membership", (row) => `json_array(${row}user_id, ${row}team_id)`],
  ["customer", (row) => `json_array(${row}organization_id, ${row}id)`],
];

/**
 * Teams from before: their ids fold in JavaScript, and of equal aliases all but the first change.
 */
async function foldTeams(database: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{ id: string }>`select id from team`.execute(database);
  for (const { id } of rows) {
    const folded = foldedTenantId(id);
    await sql`update team set folded = ${folded} where id = ${id}`.execute(database);
    await sql`insert into kept_name (kind, id, folded) values ('team', ${id}, ${folded})`.execute(
      database,
    );
  }
  await sql`update team set alias = alias || '-' || id where exists (
      select 1 from team other where other.alias = team.alias
        and (other.created_at_ms, other.id) < (team.created_at_ms, team.id)
    )`.execute(database);
}

/** What reports know of a kind of records: its table and where it belongs. */
const NAMED = [
  { kind: "organization", table: "organization", organization: "old.id", team: "null" },
  { kind: "team", table: "team", organization: "old.organization_id", team: "old.id" },
  { kind: "user", table: "tenant_user", organization: "null", team: "null" },
] as const;

/** No id is used twice, nor one that differs only by what folding takes away. */
async function keepIds(run: Run): Promise<void> {
  const kinds = [
    ...NAMED,
    { kind: "budget", table: "budget" },
    { kind: "access_group", table: "access_group" },
  ];
  for (const { kind, table } of kinds) {
    await run(`create trigger ${table}_id before insert on ${table} begin
      select raise(abort, 'taken') where exists (select 1 from ${table} where folded = new.folded and id <> new.id);
      select raise(abort, 'used') where new.managed_by is not 'file' and exists (
        select 1 from kept_name where kind = '${kind}' and folded = new.folded and deleted_at_ms is not null); end`);
    await run(`create trigger ${table}_kept after insert on ${table} begin
      insert into kept_name (kind, id, folded) values ('${kind}', new.id, new.folded)
        on conflict (kind, id) do update set deleted_at_ms = null; end`);
  }
  const nowMs = "cast(unixepoch('subsec') * 1000 as integer)";
  for (const { kind, table, organization, team } of NAMED) {
    await run(`create trigger ${table}_left after delete on ${table} begin
      update kept_name set alias = old.alias, organization_id = ${organization}, team_id = ${team}, deleted_at_ms = ${nowMs}
        where kind = '${kind}' and id = old.id; end`);
  }
  for (const table of ["budget", "access_group"])
    await run(`create trigger ${table}_left after delete on ${table} begin
      update kept_name set deleted_at_ms = ${nowMs} where kind = '${table}' and id = old.id; end`);
  await run(`create trigger virtual_key_left after delete on virtual_key begin
    insert or replace into kept_name (kind, id, alias, organization_id, team_id, deleted_at_ms)
      values ('key', old.id, old.alias, nullif(old.effective_organization_id, ''), old.team_id, ${nowMs}); end`);
}

/** Before an insert, and before an update of these columns. */
async function before(
  run: Run,
  [name, table, columns]: readonly [string, string, string],
  body: string,
): Promise<void> {
  await run(`create trigger ${name}_insert before insert on ${table} begin ${body} end`);
  await run(
    `create trigger ${name}_update before update of ${columns} on ${table} begin ${body} end`,
  );
}

const FROM_STORE = "new.managed_by is not 'file'";

/** What refers to an organization, a team or a user refers to one that exists. */
async function keepOrganizations(run: Run): Promise<void> {
  const isMissing = "not exists (select 1 from organization where id = new.organization_id)";
  for (const table of ["team", "budget", "access_group"])
    await before(
      run,
      [`${table}_organization`, table, "organization_id"],
      `select raise(abort, 'missing') where ${FROM_STORE} and new.organization_id is not null and ${isMissing};`,
    );
  await before(
    run,
    ["customer_organization", "customer", "organization_id"],
    `select raise(abort, 'missing') where ${FROM_STORE} and new.organization_id <> '' and ${isMissing};`,
  );
  await before(
    run,
    ["membership_sides", "membership", "user_id, team_id"],
    `select raise(abort, 'missing') where ${FROM_STORE} and (
      not exists (select 1 from tenant_user where id = new.user_id) or not exists (select 1 from team where id = new.team_id));`,
  );
  await before(
    run,
    ["virtual_key_organization", "virtual_key", "organization_id, effective_organization_id"],
    `select raise(abort, 'missing') where new.organization_id is not null and ${isMissing};
     select raise(abort, 'border') where new.organization_id is not null and new.organization_id <> new.effective_organization_id;`,
  );
  await before(
    run,
    ["tenant_user_places", "tenant_user", "organizations, roles"],
    `select raise(abort, 'missing') where ${FROM_STORE} and (
      exists (select 1 from json_each(new.organizations) place where place.value not in (select id from organization))
      or ${["organization", "team"]
        .map(
          (kind) => `exists (select 1 from json_each(new.roles) granted
            where granted.value ->> '$.place.kind' = '${kind}' and granted.value ->> '$.place.id' not in (select id from ${kind}))`,
        )
        .join(" or ")});`,
  );
  const add = `insert or ignore into user_organization select value, new.id from json_each(new.organizations)`;
  await run(`create trigger tenant_user_joins after insert on tenant_user begin ${add}; end`);
  await run(`create trigger tenant_user_moves after update of organizations on tenant_user begin
    delete from user_organization where user_id = old.id; ${add}; end`);
  await run(`create trigger team_moves after update of organization_id on team
    when new.organization_id is not old.organization_id begin
    select raise(abort, 'border') where exists (select 1 from membership join budget on budget.id = membership.budget_id
      where membership.team_id = new.id and budget.organization_id is not new.organization_id and budget.organization_id is not null);
    update virtual_key set effective_organization_id = coalesce(new.organization_id, organization_id, '') where team_id = new.id;
    end`);
}

/** What refers to a budget refers to one of the whole or of its own organization. */
async function keepBudgets(run: Run): Promise<void> {
  const isAsked = "new.budget_id is not null";
  const isMissing = "not exists (select 1 from budget where id = new.budget_id)";
  const ofWhole = "organization_id is null";
  for (const [table, organization] of Object.entries(ORGANIZATION_OF)) {
    const isRow = table === "virtual_key" ? isAsked : `${FROM_STORE} and ${isAsked}`;
    const place = { virtual_key: ", effective_organization_id", team: ", organization_id" }[table];
    await before(
      run,
      [`${table}_budget`, table, `budget_id${place ?? ""}`],
      `select raise(abort, 'missing') where ${isRow} and ${isMissing};
       select raise(abort, 'border') where ${isRow} and not exists (
         select 1 from budget where id = new.budget_id and (${ofWhole} or organization_id = ${organization}));`,
    );
  }
  await before(
    run,
    ["tenant_user_budget", "tenant_user", "budget_id, organizations"],
    `select raise(abort, 'missing') where ${FROM_STORE} and ${isAsked} and ${isMissing};
     select raise(abort, 'border') where ${FROM_STORE} and ${isAsked} and not exists (
       select 1 from budget where id = new.budget_id and (${ofWhole}
         or organization_id in (select value from json_each(new.organizations))));`,
  );
}

/** What a deletion takes along, and what prevents it. */
async function keepDeletions(run: Run): Promise<void> {
  const refers = (table: string, column: string): string =>
    `exists (select 1 from ${table} where ${column} = old.id)`;
  const ofOrganization = [
    refers("virtual_key", "effective_organization_id"),
    ...["team", "budget", "access_group"].map((table) => refers(table, "organization_id")),
  ];
  await run(`create trigger organization_in_use before delete on organization begin
    select raise(abort, 'referenced') where ${ofOrganization.join(" or ")}; end`);
  await run(`create trigger budget_in_use before delete on budget begin
    select raise(abort, 'referenced') where ${WITH_BUDGET.map((table) => refers(table, "budget_id")).join(" or ")}; end`);
  await run(`create trigger organization_takes_along after delete on organization begin
    delete from customer where organization_id = old.id;
    update tenant_user set organizations = (select json_group_array(value) from json_each(organizations) where value <> old.id)
      where id in (select user_id from user_organization where organization_id = old.id); end`);
  await run(`create trigger tenant_user_takes_along after delete on tenant_user begin
    delete from membership where user_id = old.id; delete from user_organization where user_id = old.id; end`);
  // The keys of a team are deleted, blocked or moved by the statement before its deletion.
  await run("drop trigger team_takes_its_keys");
  await run(`create trigger team_takes_along after delete on team begin
    delete from membership where team_id = old.id; end`);
}
