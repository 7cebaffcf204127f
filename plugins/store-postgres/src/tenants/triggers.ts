/**
 * What the database itself enforces: ids that are used once, references that exist, organizations
 * as borders. Each trigger first takes one lock of all changes of records: between its check and
 * the end of the transaction no other change happens. Changes of records are rare.
 */

import { WITH_BUDGET } from "./tables.ts";

/** The advisory lock of changes of records. */
const LOCK = 7_358_003;

type Body = string;

/** A trigger function and its trigger. Its body ends with the value that it returns. */
function trigger(name: string, when: string, table: string, body: Body): readonly string[] {
  const isBefore = when.startsWith("before");
  const result = isBefore && when.includes("delete") ? "old" : isBefore ? "new" : "null";
  return [
    `create function ${name}() returns trigger language plpgsql as $body$
     begin
       perform pg_advisory_xact_lock(${LOCK});
       ${body}
       return ${result};
     end $body$`,
    `create trigger ${name} ${when} on ${table} for each row execute function ${name}()`,
  ];
}

/** Refuses a change with one word, which the store reads. */
function refuse(word: string, condition: string): Body {
  return `if ${condition} then raise exception '${word}'; end if;`;
}

const NOW_MS = "(extract(epoch from clock_timestamp()) * 1000)::bigint";
const FROM_STORE = "new.managed_by is distinct from 'file'";
const ORGANIZATION_MISSING =
  "not exists (select 1 from organization where id = new.organization_id)";

/** What reports know of a kind of records: its table and where it belongs. */
const NAMED = [
  { kind: "organization", table: "organization", organization: "old.id", team: "null" },
  { kind: "team", table: "team", organization: "old.organization_id", team: "old.id" },
  { kind: "user", table: "tenant_user", organization: "null", team: "null" },
  { kind: "budget", table: "budget", organization: "old.organization_id", team: "null" },
  {
    kind: "access_group",
    table: "access_group",
    organization: "old.organization_id",
    team: "null",
  },
] as const;

/** No id is used twice, nor one that differs only by what folding takes away. */
const IDS = NAMED.flatMap(({ kind, table, organization, team }) => [
  ...trigger(
    `${table}_id`,
    "before insert",
    table,
    refuse("taken", `exists (select 1 from ${table} where folded = new.folded and id <> new.id)`) +
      refuse(
        "used",
        `${FROM_STORE} and exists (select 1 from kept_name where kind = '${kind}' and folded = new.folded and deleted_at_ms is not null)`,
      ),
  ),
  ...trigger(
    `${table}_kept`,
    "after insert",
    table,
    `insert into kept_name (kind, id, folded) values ('${kind}', new.id, new.folded)
       on conflict (kind, id) do update set deleted_at_ms = null;`,
  ),
  ...trigger(
    `${table}_left`,
    "after delete",
    table,
    `update kept_name set ${aliasOf(kind)} organization_id = ${organization}, team_id = ${team}, deleted_at_ms = ${NOW_MS}
       where kind = '${kind}' and id = old.id;`,
  ),
]);

function aliasOf(kind: string): string {
  return kind === "budget" || kind === "access_group" ? "" : "alias = old.alias,";
}

const KEYS = [
  ...trigger(
    "virtual_key_left",
    "after delete",
    "virtual_key",
    `insert into kept_name (kind, id, alias, organization_id, team_id, deleted_at_ms)
       values ('key', old.id, old.alias, nullif(old.effective_organization_id, ''), old.team_id, ${NOW_MS})
       on conflict (kind, id) do update set alias = excluded.alias, organization_id = excluded.organization_id,
         team_id = excluded.team_id, deleted_at_ms = excluded.deleted_at_ms;`,
  ),
  ...trigger(
    "virtual_key_team",
    "before insert or update of team_id",
    "virtual_key",
    refuse(
      "no-team",
      "new.team_id is not null and not exists (select 1 from team where id = new.team_id)",
    ),
  ),
  ...trigger(
    "virtual_key_unknown",
    "before insert",
    "virtual_key",
    refuse("imported", "exists (select 1 from imported_key where id = new.id)"),
  ),
  ...trigger(
    "virtual_key_imported",
    "after insert",
    "virtual_key",
    "if new.digest like 'sha256:%' then insert into imported_key values (new.id); end if;",
  ),
  ...trigger(
    "virtual_key_organization",
    "before insert or update of organization_id, effective_organization_id",
    "virtual_key",
    refuse("missing", `new.organization_id is not null and ${ORGANIZATION_MISSING}`) +
      refuse(
        "border",
        "new.organization_id is not null and new.organization_id <> new.effective_organization_id",
      ),
  ),
];

const isGranted = (kind: string): string =>
  `exists (select 1 from jsonb_array_elements(new.roles::jsonb) granted
     where granted #>> '{place,kind}' = '${kind}' and not exists (select 1 from ${kind} where id = granted #>> '{place,id}'))`;
const JOIN_ORGANIZATIONS = `insert into user_organization
  select value, new.id from jsonb_array_elements_text(new.organizations::jsonb) on conflict do nothing;`;

/** What refers to an organization, a team or a user refers to one that exists. */
const REFERENCES = [
  ...["team", "budget", "access_group"].flatMap((table) =>
    trigger(
      `${table}_organization`,
      "before insert or update of organization_id",
      table,
      refuse(
        "missing",
        `${FROM_STORE} and new.organization_id is not null and ${ORGANIZATION_MISSING}`,
      ),
    ),
  ),
  ...trigger(
    "customer_organization",
    "before insert or update of organization_id",
    "customer",
    refuse("missing", `${FROM_STORE} and new.organization_id <> '' and ${ORGANIZATION_MISSING}`),
  ),
  ...trigger(
    "membership_sides",
    "before insert or update of user_id, team_id",
    "membership",
    refuse(
      "missing",
      `${FROM_STORE} and (not exists (select 1 from tenant_user where id = new.user_id)
         or not exists (select 1 from team where id = new.team_id))`,
    ),
  ),
  ...trigger(
    "tenant_user_places",
    "before insert or update of organizations, roles",
    "tenant_user",
    refuse(
      "missing",
      `${FROM_STORE} and (exists (select 1 from jsonb_array_elements_text(new.organizations::jsonb) place
           where not exists (select 1 from organization where id = place))
         or ${isGranted("organization")} or ${isGranted("team")})`,
    ),
  ),
  ...trigger("tenant_user_joins", "after insert", "tenant_user", JOIN_ORGANIZATIONS),
  ...trigger(
    "tenant_user_moves",
    "after update of organizations",
    "tenant_user",
    `delete from user_organization where user_id = old.id; ${JOIN_ORGANIZATIONS}`,
  ),
  ...trigger(
    "team_moves",
    "after update of organization_id",
    "team",
    `if new.organization_id is distinct from old.organization_id then
       ${refuse(
         "border",
         `exists (select 1 from membership join budget on budget.id = membership.budget_id
            where membership.team_id = new.id and budget.organization_id is not null
              and budget.organization_id is distinct from new.organization_id)`,
       )}
       update virtual_key set effective_organization_id = coalesce(new.organization_id, organization_id, '') where team_id = new.id;
     end if;`,
  ),
];

/** The organization of a record that refers to a budget, and further columns that it depends on. */
const ORGANIZATION_OF = {
  organization: ["new.id", ""],
  team: ["coalesce(new.organization_id, '')", ", organization_id"],
  membership: ["(select coalesce(organization_id, '') from team where id = new.team_id)", ""],
  customer: ["new.organization_id", ""],
  virtual_key: ["new.effective_organization_id", ", effective_organization_id"],
} as const;

const BUDGET_MISSING = "not exists (select 1 from budget where id = new.budget_id)";

/** What refers to a budget refers to one of the whole or of its own organization. */
const BUDGETS = [
  ...Object.entries(ORGANIZATION_OF).flatMap(([table, [organization, columns]]) => {
    const isAsked =
      table === "virtual_key"
        ? "new.budget_id is not null"
        : `${FROM_STORE} and new.budget_id is not null`;
    return trigger(
      `${table}_zbudget`,
      `before insert or update of budget_id${columns}`,
      table,
      refuse("missing", `${isAsked} and ${BUDGET_MISSING}`) +
        refuse(
          "border",
          `${isAsked} and not exists (select 1 from budget where id = new.budget_id
             and (organization_id is null or organization_id = ${organization}))`,
        ),
    );
  }),
  ...trigger(
    "tenant_user_zbudget",
    "before insert or update of budget_id, organizations",
    "tenant_user",
    refuse("missing", `${FROM_STORE} and new.budget_id is not null and ${BUDGET_MISSING}`) +
      refuse(
        "border",
        `${FROM_STORE} and new.budget_id is not null and not exists (select 1 from budget where id = new.budget_id
           and (organization_id is null or new.organizations::jsonb ? organization_id))`,
      ),
  ),
];

const refers = (table: string, column: string): string =>
  `exists (select 1 from ${table} where ${column} = old.id)`;

/** What a deletion takes along, and what prevents it. */
const DELETIONS = [
  ...trigger(
    "organization_in_use",
    "before delete",
    "organization",
    refuse(
      "referenced",
      [
        refers("virtual_key", "effective_organization_id"),
        ...["team", "budget", "access_group"].map((table) => refers(table, "organization_id")),
      ].join(" or "),
    ),
  ),
  ...trigger(
    "budget_in_use",
    "before delete",
    "budget",
    refuse("referenced", WITH_BUDGET.map((table) => refers(table, "budget_id")).join(" or ")),
  ),
  ...trigger(
    "organization_takes_along",
    "after delete",
    "organization",
    `delete from customer where organization_id = old.id;
     update tenant_user set organizations = (organizations::jsonb - old.id)::text
       where id in (select user_id from user_organization where organization_id = old.id);`,
  ),
  ...trigger(
    "tenant_user_takes_along",
    "after delete",
    "tenant_user",
    "delete from membership where user_id = old.id; delete from user_organization where user_id = old.id;",
  ),
  ...trigger(
    "team_takes_along",
    "after delete",
    "team",
    "delete from membership where team_id = old.id;",
  ),
];

/** The id of a record by which it owns tags. */
const TAG_OWNERS = {
  virtual_key: (row: string) => `${row}.id`,
  team: (row: string) => `${row}.id`,
  organization: (row: string) => `${row}.id`,
  tenant_user: (row: string) => `${row}.id`,
  membership: (row: string) => `json_build_array(${row}.user_id, ${row}.team_id)::text`,
  customer: (row: string) => `json_build_array(${row}.organization_id, ${row}.id)::text`,
};

/** Tags on records. */
const TAGS = Object.entries(TAG_OWNERS).flatMap(([table, id]) => {
  const owner = (row: string): string => `'${table}:' || ${id(row)}`;
  const add = `insert into owned_tag select value, ${owner("new")}
    from jsonb_array_elements_text(new.tags::jsonb) on conflict do nothing;`;
  const remove = `delete from owned_tag where owner = ${owner("old")};`;
  return [
    ...trigger(`${table}_tags_insert`, "after insert", table, add),
    ...trigger(`${table}_tags_update`, "after update of tags", table, remove + add),
    ...trigger(`${table}_tags_delete`, "after delete", table, remove),
  ];
});

/**
 * A list of texts as rows. `@sluice/store-sql` asks by this name, which SQLite has.
 * PostgreSQL's own function of the name takes `json`.
 */
const LISTS = `create function json_each(list text) returns table (value text) language sql immutable as
  $body$ select jsonb_array_elements_text(list::jsonb) $body$`;

const AUDIT = [
  `create function audit_stays() returns trigger language plpgsql as
    $body$ begin raise exception 'a line of the audit is never changed'; end $body$`,
  "create trigger audit_stays before update on audit for each row execute function audit_stays()",
];

/** The statements that make the functions and triggers. */
export const TENANT_TRIGGERS: readonly string[] = [
  LISTS,
  ...IDS,
  ...KEYS,
  ...REFERENCES,
  ...BUDGETS,
  ...DELETIONS,
  ...TAGS,
  ...AUDIT,
];
