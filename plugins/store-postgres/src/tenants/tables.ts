/**
 * The tables of keys, teams and tenants. Their columns are those of `@sluice/store-sql`. Texts
 * compare by bytes.
 */

const TEXT = 'text collate "C"';
const AMOUNTS = `max_budget_nano_usd bigint, soft_budget_nano_usd bigint, budget_duration ${TEXT},
  rpm bigint, tpm bigint, max_parallel_requests bigint`;
const BLOCK = `alias ${TEXT}, models ${TEXT} not null default '[]', ${AMOUNTS},
  budget_anchor ${TEXT} not null default 'calendar', per_model ${TEXT} not null default '{}',
  budget_id ${TEXT}, budget_share ${TEXT} not null default 'each', tags ${TEXT} not null default '[]',
  allowed_tags ${TEXT} not null default '[]', metadata ${TEXT} not null default '{}',
  guardrails ${TEXT} not null default '[]', passthrough smallint not null default 0,
  blocked smallint not null default 0, expires_at_ms bigint, imported_nano_usd bigint, imported_at_ms bigint`;
const ORIGIN = `managed_by ${TEXT}, created_at_ms bigint not null`;
const ID = `id ${TEXT} primary key, folded ${TEXT} not null`;
const ORGANIZATION = `organization_id ${TEXT}`;

const TABLES = [
  `create table organization (${ID}, ${BLOCK}, self_service ${TEXT}, ${ORIGIN})`,
  `create table team (${ID}, ${BLOCK}, ${ORGANIZATION}, model_aliases ${TEXT} not null default '{}',
    user_budgets ${TEXT} not null default 'count', member_defaults ${TEXT} not null default '{}', self_service ${TEXT}, ${ORIGIN})`,
  `create table tenant_user (${ID}, ${BLOCK}, kind ${TEXT} not null default 'person', email ${TEXT}, email_folded ${TEXT},
    organizations ${TEXT} not null default '[]', roles ${TEXT} not null default '[]', ${ORIGIN})`,
  `create table membership (user_id ${TEXT} not null, team_id ${TEXT} not null, ${BLOCK},
    role ${TEXT} not null default 'member', ${ORIGIN}, primary key (user_id, team_id))`,
  `create table customer (id ${TEXT} not null, organization_id ${TEXT} not null, ${BLOCK}, ${ORIGIN},
    primary key (id, organization_id))`,
  `create table budget (${ID}, ${ORGANIZATION}, ${AMOUNTS}, budget_anchor ${TEXT} not null default 'calendar',
    per_model ${TEXT} not null default '{}', ${ORIGIN})`,
  `create table access_group (${ID}, ${ORGANIZATION}, models ${TEXT} not null default '[]', ${ORIGIN})`,
  `create table virtual_key (id ${TEXT} primary key, digest ${TEXT} not null unique, last4 ${TEXT} not null,
    previous_digest ${TEXT}, previous_until_ms bigint, ${BLOCK}, spend_scope ${TEXT} not null default 'key', user_id ${TEXT},
    team_id ${TEXT}, ${ORGANIZATION}, effective_organization_id ${TEXT} not null default '', customer_id ${TEXT},
    may_name_customers smallint not null default 1, admin smallint not null default 0, issued_by ${TEXT}, created_at_ms bigint not null)`,
  // Organizations of users, kept by triggers.
  `create table user_organization (organization_id ${TEXT} not null, user_id ${TEXT} not null, primary key (organization_id, user_id))`,
  // Ids that were ever used, and what reports call those that are deleted. Kept by triggers.
  `create table kept_name (kind ${TEXT} not null, id ${TEXT} not null, folded ${TEXT}, alias ${TEXT}, ${ORGANIZATION},
    team_id ${TEXT}, deleted_at_ms bigint, primary key (kind, id))`,
  `create table imported_key (id ${TEXT} primary key)`,
  `create table owned_tag (tag ${TEXT} not null, owner ${TEXT} not null, primary key (tag, owner))`,
  `create table audit (seq bigint primary key, at_ms bigint not null, actor ${TEXT} not null, user_id ${TEXT}, session ${TEXT},
    address ${TEXT}, action ${TEXT} not null, object ${TEXT}, ${ORGANIZATION}, team_id ${TEXT}, outcome ${TEXT} not null,
    before ${TEXT}, after ${TEXT}, request_id ${TEXT}, prev_hash ${TEXT} not null, hash ${TEXT} not null)`,
  `create table fact (name ${TEXT} primary key, value ${TEXT} not null)`,
];

const FOLDED = ["organization", "tenant_user", "team", "budget", "access_group"];

/** Tables whose records refer to a budget. */
export const WITH_BUDGET = [
  "organization",
  "team",
  "membership",
  "customer",
  "virtual_key",
  "tenant_user",
] as const;

const INDEXES = [
  "create index audit_object on audit (object, seq)",
  "create index audit_actor on audit (actor, seq)",
  ...FOLDED.map((table) => `create index ${table}_by_folded on ${table} (folded)`),
  ...WITH_BUDGET.map(
    (table) =>
      `create index ${table}_by_budget on ${table} (budget_id) where budget_id is not null`,
  ),
  "create index kept_name_by_folded on kept_name (kind, folded) where folded is not null",
  "create index owned_tag_by_owner on owned_tag (owner)",
  "create unique index organization_by_alias on organization (alias) where alias is not null",
  "create unique index team_by_alias on team (coalesce(organization_id, ''), alias) where alias is not null",
  "create unique index customer_by_alias on customer (organization_id, alias) where alias is not null",
  "create unique index virtual_key_by_alias on virtual_key (alias, effective_organization_id) where alias is not null",
  "create unique index virtual_key_by_previous on virtual_key (previous_digest) where previous_digest is not null",
  "create unique index tenant_user_by_email on tenant_user (email_folded) where email_folded is not null",
  "create index tenant_user_by_name on tenant_user (alias) where alias is not null",
  "create index membership_by_team on membership (team_id, user_id)",
  "create index customer_by_organization on customer (organization_id, id)",
  "create index team_by_organization on team (organization_id, id) where organization_id is not null",
  "create index budget_by_organization on budget (organization_id, id) where organization_id is not null",
  "create index access_group_by_organization on access_group (organization_id, id) where organization_id is not null",
  "create index user_organization_by_user on user_organization (user_id)",
  "create index virtual_key_by_age on virtual_key (created_at_ms, id)",
  "create index virtual_key_by_organization on virtual_key (effective_organization_id)",
  "create index virtual_key_by_team on virtual_key (team_id) where team_id is not null",
  "create index virtual_key_by_user on virtual_key (user_id) where user_id is not null",
  "create index virtual_key_by_customer on virtual_key (customer_id) where customer_id is not null",
];

/** The statements that make the tables and their indexes. */
export const TENANT_TABLES: readonly string[] = [...TABLES, ...INDEXES];
