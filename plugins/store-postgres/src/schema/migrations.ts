/** The schema's history. */

import { CHANGE_TABLES } from "../changes/tables.ts";
import { INSTANCE_TABLES, ROLLOUT_TABLES } from "../fleet/tables.ts";
import { GUARDRAIL_TABLES } from "../ledger/guardrails.ts";
import { CELLS, TOTALS, weekTable } from "../ledger/sums/weeks/tables.ts";
import { LEDGER_TABLES } from "../ledger/tables.ts";
import { TENANT_TABLES } from "../tenants/tables.ts";
import { TENANT_TRIGGERS } from "../tenants/triggers.ts";
import type { Migration } from "./migration.ts";

/** All migrations in their order. */
export const MIGRATIONS: readonly Migration[] = [
  {
    version: 1,
    name: "first",
    oldestThatWorks: 1,
    statements: [...TENANT_TABLES, ...TENANT_TRIGGERS, ...LEDGER_TABLES],
  },
  {
    version: 2,
    name: "admin_sessions",
    oldestThatWorks: 1,
    statements: [
      `create table admin_session (
        digest text primary key, id text not null, kind text not null, actor text not null,
        credential text not null, master text not null, address text,
        created_at_ms bigint not null, seen_at_ms bigint not null,
        expires_at_ms bigint not null)`,
    ],
  },
  {
    version: 3,
    name: "made_with",
    oldestThatWorks: 1,
    statements: [
      `alter table virtual_key add column made_with text collate "C"`,
      "create index virtual_key_by_maker on virtual_key (made_with) where made_with is not null",
    ],
  },
  { version: 4, name: "instances", oldestThatWorks: 1, statements: INSTANCE_TABLES },
  { version: 5, name: "changes", oldestThatWorks: 1, statements: CHANGE_TABLES },
  {
    version: 6,
    name: "key_lists",
    oldestThatWorks: 1,
    // Each order of a list, alone and within a team, a user or an organization, has an index. Old
    // ones are dropped last: until then readers do not wait.
    statements: [
      "create index virtual_key_by_end on virtual_key (expires_at_ms, id) where expires_at_ms is not null",
      "create index virtual_key_blocked on virtual_key (created_at_ms, id) where blocked = 1",
      "create index virtual_key_in_team on virtual_key (team_id, created_at_ms, id) where team_id is not null",
      "create index virtual_key_of_user on virtual_key (user_id, created_at_ms, id) where user_id is not null",
      "create index virtual_key_in_organization on virtual_key (effective_organization_id, created_at_ms, id)",
      "drop index virtual_key_by_team, virtual_key_by_user, virtual_key_by_organization",
    ],
  },
  {
    version: 7,
    name: "leases",
    oldestThatWorks: 1,
    statements: [
      `create table lease (
        name text primary key, holder text not null, since_ms bigint not null,
        until_ms bigint not null, notes text not null) with (fillfactor = 50)`,
    ],
  },
  { version: 8, name: "rollouts", oldestThatWorks: 1, statements: ROLLOUT_TABLES },
  {
    version: 9,
    name: "retention",
    oldestThatWorks: 1,
    // Rows that started before this may be gone; without a row, none are.
    statements: [
      "create table ledger_pruned (only_row boolean primary key default true check (only_row), before_ms bigint not null)",
    ],
  },
  { version: 10, name: "guardrail_days", oldestThatWorks: 1, statements: GUARDRAIL_TABLES },
  {
    version: 11,
    name: "customer_seeds",
    oldestThatWorks: 1,
    // Rows of a customer lie on a page of their own each. The begin of a budget reads the index
    // alone, but for the pages that changed since the last vacuum.
    statements: [
      "create index spend_customer_day_of_customer on spend_customer_day (customer, day) include (cell, nano_usd)",
      "drop index spend_customer_day_by_customer",
    ],
  },
  {
    version: 12,
    name: "key_model_aliases",
    oldestThatWorks: 1,
    statements: [
      `alter table virtual_key add column model_aliases text collate "C" not null default '{}'`,
    ],
  },
  { version: 13, name: "spend_weeks", oldestThatWorks: 1, statements: weekTable(CELLS) },
  { version: 14, name: "spend_total_weeks", oldestThatWorks: 1, statements: weekTable(TOTALS) },
];
