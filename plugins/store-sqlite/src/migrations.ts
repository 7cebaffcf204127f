/**
 * The schema's history. A released migration is never edited; a change is a new one with a later
 * name.
 */

import { sql } from "kysely";
import type { Migration } from "kysely/migration";
import { createOwnedTags } from "./tenants/owned-tags.ts";
import { createTenantTables } from "./tenants/create-tables.ts";
import { createAuditTable } from "./audit/create-table.ts";
import { GUARDRAIL_DAYS } from "./ledger/guardrails.ts";
import { createTotals } from "./ledger/create-totals.ts";
import { createSpendDays } from "./ledger/sums/create-days.ts";
import { createSums } from "./ledger/sums/create-tables.ts";
import { createCompletionBlocks } from "./ledger/completions.ts";
import { createWeeks } from "./ledger/sums/weeks/create.ts";
import { CELLS, TOTALS } from "./ledger/sums/weeks/tables.ts";

const KEY_LISTS = [
  "virtual_key_by_age on virtual_key (created_at_ms)",
  "virtual_key_by_end on virtual_key (expires_at_ms) where expires_at_ms is not null",
  "virtual_key_blocked on virtual_key (created_at_ms) where blocked = 1",
  "virtual_key_by_team on virtual_key (team_id, created_at_ms) where team_id is not null",
  "virtual_key_by_user on virtual_key (user_id, created_at_ms) where user_id is not null",
  "virtual_key_by_organization on virtual_key (effective_organization_id, created_at_ms)",
].map((index) => `create index ${index}`);

/** All migrations by name. They run in the order of their names. */
export const migrations: Readonly<Record<string, Migration>> = {
  "0001_first": {
    async up(database) {
      await sql`
        create table team (
          id text primary key, alias text, models text not null, max_budget_nano_usd integer, budget_duration text,
          rpm integer, tpm integer, max_parallel_requests integer, tags text not null, metadata text not null,
          blocked integer not null, created_at_ms integer not null
        ) without rowid`.execute(database);
      // A key may name a user or team that is not at rest here, so neither is a foreign key.
      await sql`
        create table virtual_key (
          id text primary key, digest text not null unique, last4 text not null, alias text, models text not null,
          max_budget_nano_usd integer, budget_duration text, rpm integer, tpm integer, max_parallel_requests integer,
          expires_at_ms integer, tags text not null, metadata text not null, guardrails text not null, user_id text,
          team_id text, blocked integer not null, created_at_ms integer not null
        ) without rowid`.execute(database);
      // Columns other than the key may be null even where a row always has them: a row written by
      // another version of the gateway must never be refused.
      await sql`
        create table ledger (
          request_id text not null, attempt integer not null, call_type text, key_id text, key_alias text, user_id text,
          team_id text, end_user text, model text, target_id text, model_group text, provider text, status text,
          error_code text, prompt_tokens integer, completion_tokens integer, total_tokens integer, cached_tokens integer,
          reasoning_tokens integer, usage_source text, cost_nano_usd integer, cost_status text, cache_hit integer,
          started_at_ms integer, first_content_at_ms integer, ended_at_ms integer, generation integer, tags text,
          metadata text, client_address text,
          primary key (request_id, attempt)
        ) without rowid`.execute(database);
      // Each index ends with the primary key by itself, so every listing is read in its order,
      // without a sort.
      await sql`create index ledger_by_time on ledger (started_at_ms)`.execute(database);
      await sql`create index ledger_by_key on ledger (key_id, started_at_ms)`.execute(database);
      await sql`create index ledger_by_user on ledger (user_id, started_at_ms) where user_id is not null`.execute(
        database,
      );
      await sql`create index ledger_by_team on ledger (team_id, started_at_ms) where team_id is not null`.execute(
        database,
      );
    },
  },
  "0002_teams_and_rotation": {
    async up(database) {
      await sql`alter table virtual_key add column previous_digest text`.execute(database);
      await sql`alter table virtual_key add column previous_until_ms integer`.execute(database);
      await sql`alter table virtual_key add column spend_scope text not null default 'key'`.execute(
        database,
      );
      await sql`alter table team add column guardrails text not null default '[]'`.execute(
        database,
      );
      await sql`create unique index virtual_key_by_previous on virtual_key (previous_digest)
        where previous_digest is not null`.execute(database);
      // Duplicate aliases were possible until now: all but the first get their id appended.
      await sql`update virtual_key set alias = alias || '-' || id where exists (
          select 1 from virtual_key other where other.alias = virtual_key.alias
            and (other.created_at_ms, other.id) < (virtual_key.created_at_ms, virtual_key.id)
        )`.execute(database);
      await sql`create unique index virtual_key_by_alias on virtual_key (alias) where alias is not null`.execute(
        database,
      );
      await sql`create index virtual_key_by_team on virtual_key (team_id) where team_id is not null`.execute(
        database,
      );
      await sql`create index virtual_key_by_user on virtual_key (user_id) where user_id is not null`.execute(
        database,
      );
      // Triggers, because SQLite adds no foreign key to a table that exists; and a key from before,
      // whose team never was at rest, must not stop the upgrade.
      for (const occasion of ["insert", "update of team_id"]) {
        await sql`create trigger ${sql.ref(`virtual_key_team_${occasion.split(" ")[0]}`)} before ${sql.raw(occasion)} on virtual_key
          when new.team_id is not null and not exists (select 1 from team where id = new.team_id)
          begin select raise(abort, 'no-team'); end`.execute(database);
      }
      await sql`create trigger team_takes_its_keys after delete on team
        begin delete from virtual_key where team_id = old.id; end`.execute(database);
    },
  },
  "0003_soft_budgets": {
    async up(database) {
      await sql`alter table virtual_key add column soft_budget_nano_usd integer`.execute(database);
      await sql`alter table team add column soft_budget_nano_usd integer`.execute(database);
    },
  },
  "0004_passthrough": {
    async up(database) {
      await sql`alter table virtual_key add column passthrough integer not null default 0`.execute(
        database,
      );
      await sql`alter table team add column passthrough integer not null default 0`.execute(
        database,
      );
    },
  },
  "0005_facts": {
    async up(database) {
      await sql`create table fact (name text primary key, value text not null) without rowid`.execute(
        database,
      );
    },
  },
  "0006_totals": {
    async up(database) {
      await createTotals(database);
    },
  },
  "0007_owned_tags": {
    async up(database) {
      await createOwnedTags(database);
    },
  },
  "0008_counted_refusals": {
    async up(database) {
      // Requests that a row stands for; null is one.
      await sql`alter table ledger add column requests integer`.execute(database);
    },
  },
  "0009_upstream_ids": {
    async up(database) {
      await sql`alter table ledger add column upstream_request_id text`.execute(database);
      await sql`alter table ledger add column completion_id text`.execute(database);
      await sql`create index ledger_by_completion on ledger (completion_id) where completion_id is not null`.execute(
        database,
      );
    },
  },
  "0010_declared_teams": {
    async up(database) {
      // `file` for the row of a team that the configuration declares; null is `store`.
      await sql`alter table team add column managed_by text`.execute(database);
    },
  },
  "0011_imported": {
    async up(database) {
      for (const table of ["virtual_key", "team"]) {
        for (const column of ["imported_nano_usd", "imported_at_ms"])
          await sql`alter table ${sql.ref(table)} add column ${sql.ref(column)} integer`.execute(
            database,
          );
      }
      // Ids of imported keys stay after the key: a second import must not restore a deleted key.
      await sql`create table imported_key (id text primary key) without rowid`.execute(database);
      await sql`create trigger virtual_key_imported_before before insert on virtual_key
        when exists (select 1 from imported_key where id = new.id)
        begin select raise(abort, 'imported'); end`.execute(database);
      await sql`create trigger virtual_key_imported_after after insert on virtual_key
        when new.digest like 'sha256:%'
        begin insert into imported_key values (new.id); end`.execute(database);
    },
  },
  "0012_organization_of_rows": {
    async up(database) {
      await sql`alter table ledger add column organization_id text`.execute(database);
      await sql`create index ledger_by_organization on ledger (organization_id, started_at_ms)
        where organization_id is not null`.execute(database);
      // A customer is an end user within an organization: those of keys without one are included.
      await sql`create index ledger_by_customer on ledger (end_user, started_at_ms)
        where end_user is not null`.execute(database);
    },
  },
  "0020_tenants": {
    async up(database) {
      await createTenantTables(database);
    },
  },
  "0021_spend_sums": {
    async up(database) {
      await createSums(database);
    },
  },
  "0030_audit": {
    async up(database) {
      await createAuditTable(database);
      // The user or the credential that was given the secret last; null: the master key.
      await sql`alter table virtual_key add column issued_by text`.execute(database);
    },
  },
  "0040_admin_sessions": {
    async up(database) {
      await sql`create table admin_session (
        digest text primary key, id text not null, kind text not null, actor text not null,
        credential text not null, master text not null, address text,
        created_at_ms integer not null, seen_at_ms integer not null,
        expires_at_ms integer not null) without rowid`.execute(database);
    },
  },
  "0050_made_with": {
    async up(database) {
      // The key that self-service made it with; null: administration made it.
      await sql`alter table virtual_key add column made_with text`.execute(database);
      await sql`create index virtual_key_by_maker on virtual_key (made_with) where made_with is not null`.execute(
        database,
      );
    },
  },
  "0051_instances": {
    async up(database) {
      await sql`create table instance (
        id text not null, worker integer not null, seen_at_ms integer not null,
        report text not null, primary key (id, worker)) without rowid`.execute(database);
    },
  },
  "0060_key_lists": {
    async up(database) {
      // Each order of a list, alone and within a team, a user or an organization, has an index.
      for (const name of ["team", "user", "organization"])
        await sql`drop index ${sql.ref(`virtual_key_by_${name}`)}`.execute(database);
      for (const text of KEY_LISTS) await sql.raw(text).execute(database);
    },
  },
  "0070_leases": {
    async up(database) {
      await sql`create table lease (
        name text primary key, holder text not null, since_ms integer not null,
        until_ms integer not null, notes text not null) without rowid`.execute(database);
    },
  },
  "0080_rollouts": {
    async up(database) {
      await sql`create table rollout (
        source text not null, id integer not null, contents text not null, base integer,
        stage text not null, reason text, at_ms integer not null, ends_at_ms integer not null,
        detail text not null, files text, primary key (source, id)) without rowid`.execute(
        database,
      );
      await sql`create table rollout_report (
        source text not null, id integer not null, instance text not null, process text not null,
        at_ms integer not null, report text not null,
        primary key (source, id, instance, process)) without rowid`.execute(database);
    },
  },
  "0090_retention": {
    async up(database) {
      // Rows that started before this may be gone; without a row, none are.
      await sql`create table ledger_pruned (
        only_row integer primary key check (only_row = 1), before_ms integer not null)`.execute(
        database,
      );
    },
  },
  "0110_spend_days": {
    async up(database) {
      await createSpendDays(database);
    },
  },
  "0120_guardrail_days": {
    async up(database) {
      await sql.raw(GUARDRAIL_DAYS).execute(database);
    },
  },
  "0130_key_names_of_teams": {
    async up(database) {
      // The keys of a team by name: without it, all of them are sorted for a page.
      await sql`create index virtual_key_by_team_name on virtual_key (team_id, alias)
        where team_id is not null and alias is not null`.execute(database);
    },
  },
  "0140_key_model_aliases": {
    async up(database) {
      await sql`alter table virtual_key add column model_aliases text not null default '{}'`.execute(
        database,
      );
    },
  },
  "0150_spend_weeks": {
    async up(database) {
      await createWeeks(database, CELLS);
    },
  },
  "0160_spend_total_weeks": {
    async up(database) {
      await createWeeks(database, TOTALS);
    },
  },
  "0170_completion_blocks": {
    async up(database) {
      await createCompletionBlocks(database);
    },
  },
};
