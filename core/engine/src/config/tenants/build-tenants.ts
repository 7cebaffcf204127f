/** The declared teams and tenants of a snapshot. */

import { type MemberDefaults, normalTenantId, type RoleGrant } from "@sluice/contract";
import { amountsOf, blockOf, givenAmounts, periodOf, selfServiceOf } from "./build-limits.ts";
import type { DeclaredTenants } from "./declared-tenants.ts";
import type { ResolvedDocument } from "../files/references.ts";
import type { GatewaySections } from "../schema/gateway.ts";
import type { RoleSection } from "../schema/tenants.ts";
import type { DeclaredTeam } from "../snapshot.ts";

/** The entries of `teams:`. */
export function teamsOf(gateway: ResolvedDocument, sections: GatewaySections): DeclaredTeam[] {
  return sections.teams.map((team, index) => ({
    id: normalTenantId(team.team_id),
    ...blockOf(team, team.team_alias),
    organizationId: nullableId(team.organization_id),
    modelAliases: team.model_aliases as Readonly<Record<string, string>>,
    userBudgets: team.user_budgets,
    memberDefaults: memberDefaultsOf(team.member_defaults),
    selfService: selfServiceOf(team.self_service),
    at: gateway.document.keyAt(["teams", index]),
  }));
}

/** The other tenants. */
export function tenantsOf(gateway: ResolvedDocument, sections: GatewaySections): DeclaredTenants {
  const at = (...path: (string | number)[]) => gateway.document.keyAt(path);
  return {
    organization: sections.organizations.map((organization, index) => ({
      id: normalTenantId(organization.organization_id),
      ...blockOf(organization, organization.organization_alias),
      selfService: selfServiceOf(organization.self_service),
      at: at("organizations", index),
    })),
    user: sections.users.map((user, index) => ({
      id: normalTenantId(user.user_id),
      ...blockOf(user, user.user_alias),
      kind: user.kind,
      email: user.user_email ?? null,
      organizations: user.organizations.map(normalTenantId),
      roles: user.roles.map(roleOf),
      at: at("users", index),
    })),
    membership: sections.teams.flatMap((team, index) =>
      team.members.map((member, place) => ({
        userId: normalTenantId(member.user_id),
        teamId: normalTenantId(team.team_id),
        ...blockOf(member, undefined),
        role: member.role,
        at: at("teams", index, "members", place),
      })),
    ),
    customer: (sections.customers?.records ?? []).map((customer, index) => ({
      id: customer.customer_id,
      organizationId: nullableId(customer.organization_id) ?? "",
      ...blockOf(customer, customer.customer_alias),
      at: at("customers", "records", index),
    })),
    ...namedOf(gateway, sections),
  };
}

function namedOf(
  gateway: ResolvedDocument,
  { budgets, access_groups: groups }: GatewaySections,
): Pick<DeclaredTenants, "budget" | "access_group"> {
  return {
    budget: budgets.map((budget, index) => ({
      id: normalTenantId(budget.budget_id),
      organizationId: nullableId(budget.organization_id),
      ...amountsOf(budget),
      ...periodOf(budget),
      at: gateway.document.keyAt(["budgets", index]),
    })),
    access_group: groups.map((group, index) => ({
      id: normalTenantId(group.access_group),
      organizationId: nullableId(group.organization_id),
      models: group.models,
      at: gateway.document.keyAt(["access_groups", index]),
    })),
  };
}

function nullableId(id: string | undefined): string | null {
  return id === undefined ? null : normalTenantId(id);
}

/** A role whose place the rules of the files have checked. */
function roleOf({
  role,
  at,
  organization_id: organizationId,
  team_id: teamId,
}: RoleSection): RoleGrant {
  if (at === "whole") return { role, place: { kind: "whole" } };
  const id = normalTenantId((at === "organization" ? organizationId : teamId) ?? "");
  return { role, place: { kind: at, id } };
}

function memberDefaultsOf({
  models,
  ...amounts
}: GatewaySections["teams"][number]["member_defaults"]): MemberDefaults {
  return { ...givenAmounts(amounts), ...(models.length > 0 && { models }) };
}
