/** Records of tenants for tests: defaults, and what a test names. */

import {
  type AccessGroupRecord,
  type BudgetRecord,
  type CustomerRecord,
  EMPTY_AMOUNTS,
  EMPTY_KEY,
  EMPTY_LIMITS,
  EMPTY_TEAM,
  type KeyRecord,
  type MembershipRecord,
  type OrganizationRecord,
  type TeamRecord,
  type UserRecord,
} from "@sluice/contract";

const createdAtMs = 1_700_000_000_000;

/** An organization. */
export function organizationOf(
  id: string,
  parts: Partial<OrganizationRecord> = {},
): OrganizationRecord {
  return { ...EMPTY_LIMITS, selfService: null, createdAtMs, ...parts, id };
}

/** A team. */
export function teamOf(id: string, parts: Partial<TeamRecord> = {}): TeamRecord {
  return { ...EMPTY_TEAM, createdAtMs, ...parts, id };
}

/** A user. */
export function userOf(id: string, parts: Partial<UserRecord> = {}): UserRecord {
  const own = { kind: "person", email: null, organizations: [], roles: [] } as const;
  return { ...EMPTY_LIMITS, ...own, createdAtMs, ...parts, id };
}

/** A user in a team. */
export function memberOf(
  userId: string,
  teamId: string,
  parts: Partial<MembershipRecord> = {},
): MembershipRecord {
  return { ...EMPTY_LIMITS, role: "member", createdAtMs, ...parts, userId, teamId };
}

/** A customer. */
export function customerOf(
  id: string,
  organizationId: string,
  parts: Partial<CustomerRecord> = {},
): CustomerRecord {
  return { ...EMPTY_LIMITS, createdAtMs, ...parts, id, organizationId };
}

/** A budget. */
export function budgetOf(id: string, parts: Partial<BudgetRecord> = {}): BudgetRecord {
  const own = { organizationId: null, budgetAnchor: "calendar", perModel: {} } as const;
  return { ...EMPTY_AMOUNTS, ...own, createdAtMs, ...parts, id };
}

/** An access group. */
export function groupOf(id: string, parts: Partial<AccessGroupRecord> = {}): AccessGroupRecord {
  return { organizationId: null, models: [], createdAtMs, ...parts, id };
}

/** A key. */
export function keyOf(id: string, parts: Partial<KeyRecord> = {}): KeyRecord {
  return { ...EMPTY_KEY, digest: `digest of ${id}`, last4: "last", createdAtMs, ...parts, id };
}
