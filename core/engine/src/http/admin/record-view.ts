/** The administrator's view of keys and teams: all members except keys and their digests. */

import {
  type Amounts,
  EMPTY_KEY,
  type JsonObject,
  type JsonValue,
  type KeyRecord,
  type LimitBlock,
  type MemberDefaults,
  type SelfService,
  type TeamExtras,
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
    user_id: record.userId,
    team_id: record.teamId,
    organization_id: record.organizationId,
    customer_id: record.customerId,
    may_name_customers: record.mayNameCustomers,
    model_aliases: record.modelAliases,
    admin: record.admin,
    spend_scope: record.spendScope,
    made_with: record.madeWith,
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
      ...key,
      ...key.limits,
    }),
    user_id: key.userId ?? null,
    team_id: key.teamId ?? null,
    organization_id: key.organizationId ?? null,
    customer_id: key.customerId ?? null,
    may_name_customers: key.mayNameCustomers ?? true,
    model_aliases: key.modelAliases ?? {},
    admin: false,
    spend_scope: key.spendScope,
    made_with: null,
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
    ...teamExtrasView(record),
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
    ...teamExtrasView(team),
    created_at: null,
  };
}

/** A block of limits, without the alias. */
export function limitsView(record: Omit<LimitBlock, "alias">): JsonObject {
  return {
    models: record.models,
    ...amountsView(record),
    budget_anchor: record.budgetAnchor,
    per_model: perModelView(record.perModel),
    budget_id: record.budgetId,
    budget_share: record.budgetShare,
    tags: record.tags,
    allowed_tags: record.allowedTags,
    metadata: record.metadata as JsonObject,
    guardrails: record.guardrails,
    passthrough: record.passthrough,
    blocked: record.blocked,
    expires: timeOf(record.expiresAtMs),
  };
}

/** Amounts; those that are absent stay absent. */
export function amountsView(amounts: Partial<Amounts>): JsonObject {
  const view: Record<string, JsonValue | undefined> = {
    max_budget:
      amounts.maxBudgetNanoUsd === undefined ? undefined : budgetDollars(amounts.maxBudgetNanoUsd),
    soft_budget:
      amounts.softBudgetNanoUsd === undefined
        ? undefined
        : budgetDollars(amounts.softBudgetNanoUsd),
    budget_duration: amounts.budgetDuration,
    rpm_limit: amounts.rpm,
    tpm_limit: amounts.tpm,
    max_parallel_requests: amounts.maxParallelRequests,
  };
  return Object.fromEntries(
    Object.entries(view).filter(([, value]) => value !== undefined),
  ) as JsonObject;
}

/** Limits by model. */
export function perModelView(perModel: LimitBlock["perModel"]): JsonObject {
  return Object.fromEntries(
    Object.entries(perModel).map(([model, amounts]) => [model, amountsView(amounts)]),
  );
}

/** What a team has besides its block of limits. */
function teamExtrasView(team: TeamExtras): JsonObject {
  return {
    organization_id: team.organizationId,
    model_aliases: team.modelAliases,
    user_budgets: team.userBudgets,
    member_defaults: boundView(team.memberDefaults),
    self_service: selfServiceView(team.selfService),
  };
}

/** Amounts, and models where they are said. */
function boundView(bound: MemberDefaults): JsonObject {
  const { models } = bound;
  return { ...amountsView(bound), ...(models !== undefined && { models }) };
}

/** A rule of self-service. */
export function selfServiceView(rule: SelfService | null): JsonObject | null {
  if (rule === null) return null;
  return {
    max_keys: rule.maxKeys,
    upper_bounds: boundView(rule.upperBounds),
    defaults: amountsView(rule.defaults),
  };
}

/** A time of a record. */
export function timeOf(milliseconds: number | null): string | null {
  return milliseconds === null ? null : new Date(milliseconds).toISOString();
}
