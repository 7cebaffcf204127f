/** How each kind of tenants is kept. */

import {
  type BudgetRecord,
  foldedTenantId,
  type ManagedBy,
  type MembershipRecord,
  type RoleGrant,
  type TeamRecord,
  type TenantId,
  type TenantKind,
  type TenantRecords,
  type UserRecord,
} from "@sluice/contract";
import { type RawBuilder, sql } from "kysely";
import { parseJson } from "@sluice/kit";
import type * as tables from "../schema.ts";
import { readList, readObject, withoutNul } from "../text.ts";
import {
  amountColumns,
  amountMembers,
  jsonText,
  limitColumns,
  limitMembers,
  nullableText,
  present,
  readAliases,
  readPerModel,
  readSelfService,
  selfServiceText,
} from "./limits.ts";
import { anyOf, is, isOneOf, NOTHING, type Shape } from "./shape.ts";

interface Origin {
  readonly managedBy?: ManagedBy;
  readonly createdAtMs: number;
}

/** How the table of a kind is kept. */
export type ShapeOf<Kind extends TenantKind, Row> = Shape<TenantRecords[Kind], TenantId<Kind>, Row>;

function originColumns({ managedBy }: Partial<Origin>): { managed_by?: string | null } {
  return managedBy === undefined ? {} : { managed_by: managedBy === "file" ? "file" : null };
}

function originOf(row: { managed_by: string | null; created_at_ms: number }): Origin {
  const managedBy = row.managed_by === "file" ? ({ managedBy: "file" } as const) : {};
  return { ...managedBy, createdAtMs: row.created_at_ms };
}

function named({ id, createdAtMs }: { readonly id: string; readonly createdAtMs: number }) {
  return { id: withoutNul(id), folded: foldedTenantId(id), created_at_ms: createdAtMs };
}

const ONE_ID = {
  idColumns: ["id"] as const,
  idValues: ({ id }: { readonly id: string }) => [id],
};

const teamsOfUsers = (users: readonly string[]): RawBuilder<boolean> =>
  sql<boolean>`id in (select team_id from membership where ${isOneOf("user_id", users)})`;

/** Organizations. A user's are those that he names and those of his teams. */
export const ORGANIZATION: ShapeOf<"organization", tables.OrganizationTable> = {
  table: "organization",
  ...ONE_ID,
  hasAlias: true,
  columns: (changes) => ({
    ...limitColumns(changes),
    ...present({ self_service: selfServiceText(changes.selfService) }),
    ...originColumns(changes),
  }),
  fixed: named,
  record: (row) => ({
    id: row.id,
    ...limitMembers(row),
    selfService: readSelfService(row.self_service),
    ...originOf(row),
  }),
  filters: {
    organizationId: is("id"),
    userId: (
      id,
    ) => sql<boolean>`id in (select organization_id from user_organization where user_id = ${id}
      union select team.organization_id from membership join team on team.id = membership.team_id where user_id = ${id})`,
    teamId: (id) => sql<boolean>`id = (select organization_id from team where team.id = ${id})`,
    budgetId: is("budget_id"),
    within: ({ organizations }) => isOneOf("id", organizations),
  },
};

/** Teams. */
export const TEAM: Shape<TeamRecord, { readonly id: string }, tables.TeamTable> = {
  table: "team",
  ...ONE_ID,
  hasAlias: true,
  columns: (changes) => ({
    ...limitColumns(changes),
    ...present({
      organization_id: nullableText(changes.organizationId),
      model_aliases: jsonText(changes.modelAliases),
      user_budgets: changes.userBudgets,
      member_defaults: jsonText(changes.memberDefaults),
      self_service: selfServiceText(changes.selfService),
    }),
    ...originColumns(changes),
  }),
  fixed: named,
  record: (row) => ({
    id: row.id,
    ...limitMembers(row),
    organizationId: row.organization_id,
    modelAliases: readAliases(row.model_aliases),
    userBudgets: row.user_budgets === "ignore" ? "ignore" : "count",
    memberDefaults: readObject(row.member_defaults),
    selfService: readSelfService(row.self_service),
    ...originOf(row),
  }),
  filters: {
    organizationId: is("organization_id"),
    userId: (id) => teamsOfUsers([id]),
    teamId: is("id"),
    budgetId: is("budget_id"),
    within: ({ organizations, teams, users }) =>
      anyOf(
        isOneOf("organization_id", organizations),
        isOneOf("id", teams),
        users.length === 0 ? NOTHING : teamsOfUsers(users),
      ),
  },
};

const usersOfOrganizations = (ids: readonly string[]): RawBuilder<boolean> =>
  ids.length === 0
    ? NOTHING
    : sql<boolean>`id in (select user_id from user_organization where ${isOneOf("organization_id", ids)}
        union select user_id from membership where team_id in (select team.id from team where ${isOneOf("organization_id", ids)}))`;
const usersOfTeams = (ids: readonly string[]): RawBuilder<boolean> =>
  ids.length === 0
    ? NOTHING
    : sql<boolean>`id in (select user_id from membership where ${isOneOf("team_id", ids)})`;

/** Users. Those of an organization name it, or are members of one of its teams. */
export const USER: ShapeOf<"user", tables.UserTable> = {
  table: "tenant_user",
  ...ONE_ID,
  hasAlias: true,
  columns: (changes) => ({
    ...limitColumns(changes),
    ...present({
      kind: changes.kind,
      email: nullableText(changes.email),
      email_folded:
        typeof changes.email === "string" ? foldedTenantId(changes.email) : changes.email,
      organizations: jsonText(changes.organizations),
      roles: jsonText(changes.roles),
    }),
    ...originColumns(changes),
  }),
  fixed: named,
  record: (row) => ({
    id: row.id,
    ...limitMembers(row),
    kind: row.kind as UserRecord["kind"],
    email: row.email,
    organizations: readList(row.organizations),
    roles: parseJson(row.roles) as readonly RoleGrant[],
    ...originOf(row),
  }),
  filters: {
    organizationId: (id) => usersOfOrganizations([id]),
    userId: is("id"),
    teamId: (id) => usersOfTeams([id]),
    budgetId: is("budget_id"),
    within: ({ organizations, teams, users }) =>
      anyOf(usersOfOrganizations(organizations), usersOfTeams(teams), isOneOf("id", users)),
  },
};

const inTeamsOf = (organizations: readonly string[]): RawBuilder<boolean> =>
  organizations.length === 0
    ? NOTHING
    : sql<boolean>`team_id in (select team.id from team where ${isOneOf("organization_id", organizations)})`;

/** Memberships. */
export const MEMBERSHIP: ShapeOf<"membership", tables.MembershipTable> = {
  table: "membership",
  idColumns: ["user_id", "team_id"],
  idValues: ({ userId, teamId }) => [userId, teamId],
  hasAlias: true,
  columns: (changes) => ({
    ...limitColumns(changes),
    ...present({ role: changes.role }),
    ...originColumns(changes),
  }),
  fixed: ({ userId, teamId, createdAtMs }) => ({
    user_id: withoutNul(userId),
    team_id: withoutNul(teamId),
    created_at_ms: createdAtMs,
  }),
  record: (row) => ({
    userId: row.user_id,
    teamId: row.team_id,
    ...limitMembers(row),
    role: row.role as MembershipRecord["role"],
    ...originOf(row),
  }),
  filters: {
    organizationId: (id) => inTeamsOf([id]),
    userId: is("user_id"),
    teamId: is("team_id"),
    budgetId: is("budget_id"),
    within: ({ organizations, teams, users }) =>
      anyOf(inTeamsOf(organizations), isOneOf("team_id", teams), isOneOf("user_id", users)),
  },
};

/** Customers. A search finds ids alone: there may be millions, and few have an alias. */
export const CUSTOMER: ShapeOf<"customer", tables.CustomerTable> = {
  table: "customer",
  idColumns: ["id", "organization_id"],
  idValues: ({ id, organizationId }) => [id, organizationId],
  hasAlias: false,
  columns: (changes) => ({ ...limitColumns(changes), ...originColumns(changes) }),
  fixed: ({ id, organizationId, createdAtMs }) => ({
    id: withoutNul(id),
    organization_id: withoutNul(organizationId),
    created_at_ms: createdAtMs,
  }),
  record: (row) => ({
    id: row.id,
    organizationId: row.organization_id,
    ...limitMembers(row),
    ...originOf(row),
  }),
  filters: {
    organizationId: is("organization_id"),
    budgetId: is("budget_id"),
    within: ({ organizations }) => isOneOf("organization_id", organizations),
  },
};

const OF_ORGANIZATION = {
  organizationId: is("organization_id"),
  within: ({ organizations }: { readonly organizations: readonly string[] }) =>
    isOneOf("organization_id", organizations),
};

/** Budgets. */
export const BUDGET: ShapeOf<"budget", tables.BudgetTable> = {
  table: "budget",
  ...ONE_ID,
  hasAlias: false,
  columns: (changes) => ({
    ...amountColumns(changes),
    ...present({ budget_anchor: changes.budgetAnchor, per_model: jsonText(changes.perModel) }),
    ...originColumns(changes),
  }),
  fixed: (record) => ({
    ...named(record),
    organization_id: nullableText(record.organizationId) ?? null,
  }),
  record: (row) => ({
    id: row.id,
    organizationId: row.organization_id,
    ...amountMembers(row),
    budgetAnchor: row.budget_anchor as BudgetRecord["budgetAnchor"],
    perModel: readPerModel(row.per_model),
    ...originOf(row),
  }),
  filters: { ...OF_ORGANIZATION, budgetId: is("id") },
};

/** Access groups. */
export const ACCESS_GROUP: ShapeOf<"access_group", tables.AccessGroupTable> = {
  table: "access_group",
  ...ONE_ID,
  hasAlias: false,
  columns: (changes) => ({
    ...present({ models: jsonText(changes.models) }),
    ...originColumns(changes),
  }),
  fixed: (record) => ({
    ...named(record),
    organization_id: nullableText(record.organizationId) ?? null,
  }),
  record: (row) => ({
    id: row.id,
    organizationId: row.organization_id,
    models: readList(row.models),
    ...originOf(row),
  }),
  filters: OF_ORGANIZATION,
};
