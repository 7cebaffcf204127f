/**
 * The tables that kysely knows. The ledger is not among them: it is written and read by prepared
 * statements.
 */

/** The database as kysely sees it. */
export interface Schema {
  virtual_key: KeyTable;
  team: TeamTable;
  /** Facts about the store itself, by name. */
  fact: { name: string; value: string };
  /** The tags on records, by the key or team that has them. Written by triggers. */
  owned_tag: { tag: string; owner: string };
  /** Ids of keys that were imported, deleted ones included. Written by triggers. */
  imported_key: { id: string };
  /** Kysely's own record of the migrations that ran. */
  kysely_migration: { name: string; timestamp: string };
}

/**
 * The common columns of keys and teams. Lists and objects are JSON texts; booleans are 0 or 1;
 * money is nano-dollars.
 */
export interface LimitColumns {
  alias: string | null;
  models: string;
  max_budget_nano_usd: number | null;
  soft_budget_nano_usd: number | null;
  budget_duration: string | null;
  rpm: number | null;
  tpm: number | null;
  max_parallel_requests: number | null;
  tags: string;
  allowed_tags: string;
  metadata: string;
  guardrails: string;
  passthrough: number;
  blocked: number;
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
  expires_at_ms: number | null;
  spend_scope: string;
  user_id: string | null;
  team_id: string | null;
  created_at_ms: number;
}

/** Teams. */
export interface TeamTable extends LimitColumns {
  id: string;
  /** `file` for the row of a declared team; null is `store`. */
  managed_by: string | null;
  created_at_ms: number;
}
