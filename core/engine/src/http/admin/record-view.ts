/** The administrator's view of keys and teams: all members except keys and their digests. */

import {
  EMPTY_KEY,
  type JsonObject,
  type KeyRecord,
  type LimitBlock,
  type TeamRecord,
} from "@sluice/contract";
import type { DeclaredKey, DeclaredTeam } from "../../config/snapshot.ts";
import { budgetDollars } from "./dollars.ts";

/** A key of the store. */
export function keyView(record: KeyRecord): JsonObject {
  return {
    token_id: record.id,
    key_name: `sk-...${record.last4}`,
    key_alias: record.alias,
    declared: false,
    managed_by: "store",
    ...limitsView(record),
    expires: timeOf(record.expiresAtMs),
    user_id: record.userId,
    team_id: record.teamId,
    spend_scope: record.spendScope,
    previous_key_until: timeOf(record.previousUntilMs),
    created_at: timeOf(record.createdAtMs),
  };
}

/** The id of a declared key. */
export function declaredId({ alias }: DeclaredKey): string {
  return `yaml:${alias}`;
}

/**
 * A key that the configuration declares. The view has no part of the key itself, which may be
 * short.
 */
export function declaredView(key: DeclaredKey): JsonObject {
  return {
    token_id: declaredId(key),
    key_name: null,
    key_alias: key.alias,
    declared: true,
    managed_by: "file",
    ...limitsView({
      ...EMPTY_KEY,
      ...key.limits,
      models: key.models,
      tags: key.tags,
      allowedTags: key.allowedTags ?? [],
      metadata: key.metadata,
    }),
    expires: null,
    user_id: key.userId ?? null,
    team_id: key.teamId ?? null,
    spend_scope: key.spendScope,
    previous_key_until: null,
    created_at: null,
  };
}

/** A team. */
export function teamView(record: TeamRecord): JsonObject {
  return {
    team_id: record.id,
    team_alias: record.alias,
    declared: false,
    managed_by: record.managedBy ?? "store",
    ...limitsView(record),
    created_at: timeOf(record.createdAtMs),
  };
}

/** A team that the configuration declares. */
export function declaredTeamView(team: DeclaredTeam): JsonObject {
  return {
    team_id: team.id,
    team_alias: team.alias,
    declared: true,
    managed_by: "file",
    ...limitsView(team),
    created_at: null,
  };
}

function limitsView(record: Omit<LimitBlock, "alias">): JsonObject {
  return {
    models: record.models,
    max_budget: budgetDollars(record.maxBudgetNanoUsd),
    soft_budget: budgetDollars(record.softBudgetNanoUsd),
    budget_duration: record.budgetDuration,
    rpm_limit: record.rpm,
    tpm_limit: record.tpm,
    max_parallel_requests: record.maxParallelRequests,
    tags: record.tags,
    allowed_tags: record.allowedTags,
    metadata: record.metadata as JsonObject,
    guardrails: record.guardrails,
    passthrough: record.passthrough,
    blocked: record.blocked,
  };
}

function timeOf(milliseconds: number | null): string | null {
  return milliseconds === null ? null : new Date(milliseconds).toISOString();
}
