/**
 * The tables that kysely knows. The ledger is not among them: it is written and read by prepared
 * statements.
 */

/** The database as kysely sees it. */
export interface Schema {
  virtual_key: KeyTable;
  team: TeamTable;
  organization: OrganizationTable;
  tenant_user: UserTable;
  membership: MembershipTable;
  customer: CustomerTable;
  budget: BudgetTable;
  access_group: AccessGroupTable;
  /** Organizations that users belong to by themselves. Written by triggers. */
  user_organization: { organization_id: string; user_id: string };
  /** Ids that were ever used, and the names of deleted records. Written by triggers. */
  kept_name: KeptNameTable;
  audit: AuditTable;
  admin_session: SessionTable;
  instance: InstanceTable;
  rollout: RolloutTable;
  rollout_report: RolloutReportTable;
  /** Facts about the store itself, by name. */
  fact: { name: string; value: string };
  /** The tags on records, by the record that has them. Written by triggers. */
  owned_tag: { tag: string; owner: string };
  /** Ids of keys that were imported, deleted ones included. Written by triggers. */
  imported_key: { id: string };
  /** Kysely's own record of the migrations that ran. */
  kysely_migration: { name: string; timestamp: string };
}

/** Columns of amounts; money is nano-dollars. */
export interface AmountColumns {
  max_budget_nano_usd: number | null;
  soft_budget_nano_usd: number | null;
  budget_duration: string | null;
  rpm: number | null;
  tpm: number | null;
  max_parallel_requests: number | null;
}

/** Columns of a block of limits. Lists and objects are JSON texts; booleans are 0 or 1. */
export interface LimitColumns extends AmountColumns {
  alias: string | null;
  models: string;
  budget_anchor: string;
  per_model: string;
  budget_id: string | null;
  budget_share: string;
  tags: string;
  allowed_tags: string;
  metadata: string;
  guardrails: string;
  passthrough: number;
  blocked: number;
  expires_at_ms: number | null;
  imported_nano_usd: number | null;
  imported_at_ms: number | null;
}

/** Virtual keys. */
export interface KeyTable extends LimitColumns {
  id: string;
  digest: string;
  last4: string;
  previous_digest: string | null;
  previous_until_ms: number | null;
  spend_scope: string;
  user_id: string | null;
  team_id: string | null;
  organization_id: string | null;
  /** The organization that its team gives it, or its own; empty without one. */
  effective_organization_id: string;
  customer_id: string | null;
  may_name_customers: number;
  model_aliases: string;
  admin: number;
  issued_by: string | null;
  made_with: string | null;
  created_at_ms: number;
}

interface OriginColumns {
  /** `file` for the row of a declared record; null is `store`. */
  managed_by: string | null;
  created_at_ms: number;
}

/** Teams. */
export interface TeamTable extends LimitColumns, OriginColumns {
  id: string;
  folded: string;
  organization_id: string | null;
  model_aliases: string;
  user_budgets: string;
  member_defaults: string;
  self_service: string | null;
}

/** Organizations. */
export interface OrganizationTable extends LimitColumns, OriginColumns {
  id: string;
  folded: string;
  self_service: string | null;
}

/** Users. */
export interface UserTable extends LimitColumns, OriginColumns {
  id: string;
  folded: string;
  kind: string;
  email: string | null;
  email_folded: string | null;
  organizations: string;
  roles: string;
}

/** Users in teams. */
export interface MembershipTable extends LimitColumns, OriginColumns {
  user_id: string;
  team_id: string;
  role: string;
}

/** Customers. The organization is empty for those of keys without one. */
export interface CustomerTable extends LimitColumns, OriginColumns {
  id: string;
  organization_id: string;
}

/** Budgets. */
export interface BudgetTable extends AmountColumns, OriginColumns {
  id: string;
  folded: string;
  organization_id: string | null;
  budget_anchor: string;
  per_model: string;
}

/** Access groups. */
export interface AccessGroupTable extends OriginColumns {
  id: string;
  folded: string;
  organization_id: string | null;
  models: string;
}

/** Lines of the audit. `before` and `after` are JSON. */
export interface AuditTable {
  seq: number;
  at_ms: number;
  actor: string;
  user_id: string | null;
  session: string | null;
  address: string | null;
  action: string;
  object: string | null;
  organization_id: string | null;
  team_id: string | null;
  outcome: string;
  before: string | null;
  after: string | null;
  request_id: string | null;
  prev_hash: string;
  hash: string;
}

/** Sessions of browsers on the admin listener, and codes for one. */
export interface SessionTable {
  digest: string;
  id: string;
  kind: string;
  actor: string;
  credential: string;
  master: string;
  address: string | null;
  created_at_ms: number;
  seen_at_ms: number;
  expires_at_ms: number;
}

/** Processes of the fleet. `report` is JSON. */
export interface InstanceTable {
  id: string;
  worker: number;
  seen_at_ms: number;
  report: string;
}

/** Contents that the fleet is to run. `detail` and `files` are JSON. */
export interface RolloutTable {
  source: string;
  id: number;
  contents: string;
  base: number | null;
  stage: string;
  reason: string | null;
  at_ms: number;
  ends_at_ms: number;
  detail: string;
  files: string | null;
}

/** What became of a rollout in each process. `report` is JSON. */
export interface RolloutReportTable {
  source: string;
  id: number;
  instance: string;
  process: string;
  at_ms: number;
  report: string;
}

/** Names of what was deleted. `deleted_at_ms` is null while the record exists. */
export interface KeptNameTable {
  kind: string;
  id: string;
  folded: string | null;
  alias: string | null;
  organization_id: string | null;
  team_id: string | null;
  deleted_at_ms: number | null;
}
