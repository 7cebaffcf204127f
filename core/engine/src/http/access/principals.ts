/** The principals of virtual keys: users with their roles, bounded by who gave them the key. */

import {
  type Clock,
  type Identity,
  type KeyRecord,
  type MembershipRecord,
  type Place,
  type Role,
  type RoleGrant,
  ROLES,
  type Store,
  type TenantBase,
} from "@sluice/contract";
import { hasRole, type Principal } from "./may.ts";

/** The parts that principals are found in. */
export interface PrincipalParts extends Pick<Store, "teams" | "tenants"> {
  readonly keys: Pick<Store["keys"], "find">;
  readonly clock: Pick<Clock, "now">;
}

/** Memberships that are read at once. */
const PAGE = 500;

/**
 * The principal of an admin key, whose identity the ring has found; `undefined` for a key without
 * `admin`, and for a user who is blocked or has no role.
 */
export async function principalOf(
  { keyId }: Identity,
  parts: PrincipalParts,
): Promise<Principal | undefined> {
  const key = await parts.keys.find(keyId);
  return key?.admin === true ? principalOfKey(key, parts) : undefined;
}

/** The principal of the user of a key of the store; `undefined` when the user has no role. */
async function principalOfKey(
  { id, userId, issuedBy }: KeyRecord,
  parts: PrincipalParts,
): Promise<Principal | undefined> {
  if (userId === null) return undefined;
  const own = await rolesOf(userId, parts);
  const isOwn = issuedBy === null || issuedBy === userId;
  const roles = isOwn ? own : await bounded(own, issuedBy, parts);
  if (roles.length === 0) return undefined;
  const user = await parts.tenants?.user.find({ id: userId });
  return {
    kind: "user",
    keyId: id,
    userId,
    roles,
    ...(isOwn ? {} : { issuer: issuedBy }),
    ...(user?.kind === "service" && { isService: true }),
  };
}

/** The roles of a user, `keys` at the teams that he administers included. */
export async function rolesOf(
  userId: string,
  { tenants, clock }: PrincipalParts,
): Promise<readonly RoleGrant[]> {
  const user = await tenants?.user.find({ id: userId });
  if (tenants === undefined || user === undefined || !isActive(user, clock)) return [];
  const grants: RoleGrant[] = [...user.roles];
  for (let after: string | undefined; ;) {
    const page = await tenants.membership.list({
      userId,
      limit: PAGE,
      ...(after !== undefined && { after }),
    });
    for (const membership of page.records) grants.push(...grantsOf(membership, clock));
    after = page.next;
    if (after === undefined) return grants;
  }
}

function grantsOf(membership: MembershipRecord, clock: Pick<Clock, "now">): readonly RoleGrant[] {
  if (membership.role !== "admin" || !isActive(membership, clock)) return [];
  return [{ role: "keys", place: { kind: "team", id: membership.teamId } }];
}

function isActive({ blocked, expiresAtMs }: TenantBase, clock: Pick<Clock, "now">): boolean {
  return !blocked && (expiresAtMs === null || clock.now() < expiresAtMs);
}

/**
 * Roles that the issuer of a key has as well. Who was given a secret keeps it: a later promotion of
 * its user gives the issuer nothing.
 */
async function bounded(
  grants: readonly RoleGrant[],
  issuedBy: string,
  parts: PrincipalParts,
): Promise<readonly RoleGrant[]> {
  const others = await rolesOf(issuedBy, parts);
  // A role at a wide place meets one at a place inside of it from either side.
  return [...(await within(grants, others, parts)), ...(await within(others, grants, parts))];
}

/** Roles as far as others have them too, at the places of the first. */
async function within(
  grants: readonly RoleGrant[],
  others: readonly RoleGrant[],
  parts: PrincipalParts,
): Promise<readonly RoleGrant[]> {
  const holder: Principal = { kind: "user", keyId: "", roles: others };
  const kept: RoleGrant[] = [];
  for (const { role, place } of grants) {
    const organizationId = await organizationOf(place, parts);
    const held = strongest(role, (one) => hasRole(holder, one, place, organizationId));
    if (held !== undefined) kept.push({ role: held, place });
  }
  return kept;
}

/** The strongest role up to one that a condition holds for. */
function strongest(role: Role, holds: (role: Role) => boolean): Role | undefined {
  return ROLES.slice(0, ROLES.indexOf(role) + 1).findLast(holds);
}

/** The organization of a team; `null` for other places. */
export async function organizationOf(
  place: Place,
  { teams }: Pick<PrincipalParts, "teams">,
): Promise<string | null> {
  if (place.kind !== "team") return null;
  return (await teams.find(place.id))?.organizationId ?? null;
}
