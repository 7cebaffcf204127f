/** Decides what a principal may do, by the table of the contract. Everything else is refused. */

import {
  type Place,
  POLICY,
  type PolicyAction,
  type PolicyRule,
  type Role,
  type RoleGrant,
  ROLES,
} from "@sluice/contract";

/** The caller of an administrative route. */
export interface Principal {
  /**
   * `master` is the administrator of the whole. `read_key` is the key of `server.admin.read_key`.
   * `user` acts with the roles of a user. `key` has no role: it owns itself.
   */
  readonly kind: "master" | "read_key" | "user" | "key";
  /** The credential: the id of a key, `master` or `read_key`. */
  readonly keyId: string;
  readonly userId?: string;
  /**
   * The user whose roles bound those of this principal: the one who was first given a secret that
   * leads to it. Absent: none.
   */
  readonly issuer?: string;
  /** Its user is a service account: no browser signs in as it. */
  readonly isService?: true;
  /** The session of a browser that acts. Absent: the credential itself came with the request. */
  readonly session?: string;
  /** Roles of the user; `keys` for each team where the user is an `admin`. */
  readonly roles: readonly RoleGrant[];
}

/** Whom a key that a principal makes is issued by; `null`: the master key. */
export function issuerOf({ kind, issuer, userId }: Principal): string | null {
  return kind === "master" ? null : (issuer ?? userId ?? null);
}

/** A place of an object: its organization and its team. */
export interface ObjectPlace {
  readonly organizationId: string | null;
  readonly teamId: string | null;
}

/** What an action is done to. */
export interface PolicyObject {
  /** Where it is; none: only a role at the whole reaches it. */
  readonly places: readonly ObjectPlace[];
  /** The place that it is itself, of an organization and of a team. */
  readonly self?: Place;
  /** The user who owns it. */
  readonly userId?: string | null;
  /** The key that owns it. */
  readonly keyId?: string;
}

/** The gateway itself. */
export const WHOLE: PolicyObject = Object.freeze({ places: Object.freeze([]) });

/** Whether a principal may do something to an object. */
export function may(principal: Principal, action: PolicyAction, object: PolicyObject): boolean {
  if (principal.kind === "master") return true;
  const rule = POLICY[action];
  if (principal.kind === "read_key") return rule.readKey === true;
  if (isOwner(principal, rule, object)) return true;
  if (principal.kind !== "user") return false;
  const places = grantsFor(principal, rule).map(({ place }) => place);
  if (places.some(({ kind }) => kind === "whole")) return true;
  if (rule.reach === "whole" || object.places.length === 0) return false;
  const counted =
    rule.reach === "above" ? places.filter((place) => !isSelf(place, object)) : places;
  const isCovered = (at: ObjectPlace): boolean => counted.some((place) => covers(place, at));
  return rule.isAtEach === true ? object.places.every(isCovered) : object.places.some(isCovered);
}

/** Objects that a principal may see: all, or those of any of these places and users. */
export type Visible =
  | "all"
  | {
      readonly organizations: readonly string[];
      readonly teams: readonly string[];
      readonly users: readonly string[];
    };

/**
 * The objects of an action, for the query of a list; `undefined`: the principal may do it to no
 * object.
 */
export function visibleTo(principal: Principal, action: PolicyAction): Visible | undefined {
  const rule = POLICY[action];
  if (principal.kind === "master") return "all";
  if (principal.kind === "read_key") return rule.readKey === true ? "all" : undefined;
  const grants = principal.kind === "user" ? grantsFor(principal, rule) : [];
  if (grants.some(({ place }) => place.kind === "whole")) return "all";
  const counted = rule.reach === "whole" ? [] : grants;
  const organizations = idsOf(counted, "organization");
  const teams = idsOf(counted, "team");
  const isOwner = principal.kind === "user" && rule.owners.includes("user");
  // What a key that another user has issued shows is bounded by roles alone.
  const { issuer, userId } = principal;
  const users = isOwner && issuer === undefined && userId !== undefined ? [userId] : [];
  if (organizations.length + teams.length + users.length === 0) return undefined;
  return { organizations, teams, users };
}

/** Whether something is among the objects that a principal may see. */
export function isVisible(
  visible: Visible,
  {
    organizationId,
    teamId,
    userId,
  }: Readonly<Partial<Record<"organizationId" | "teamId" | "userId", string | null | undefined>>>,
): boolean {
  if (visible === "all") return true;
  return (
    (organizationId != null && visible.organizations.includes(organizationId)) ||
    (teamId != null && visible.teams.includes(teamId)) ||
    (userId != null && visible.users.includes(userId))
  );
}

/** Whether a role includes another one. */
export function includes(role: Role, other: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(other);
}

/**
 * Whether a principal has a role, or a stronger one, at a place or at one that contains it.
 * `organizationId` is that of a team.
 */
export function hasRole(
  principal: Principal,
  role: Role,
  place: Place,
  organizationId: string | null = null,
): boolean {
  if (principal.kind === "master") return true;
  if (principal.kind !== "user") return false;
  const at: ObjectPlace =
    place.kind === "team"
      ? { organizationId, teamId: place.id }
      : { organizationId: place.kind === "organization" ? place.id : null, teamId: null };
  return principal.roles.some(
    (grant) =>
      includes(grant.role, role) && (grant.place.kind === "whole" || covers(grant.place, at)),
  );
}

/** A key that another user has issued may be in that user's hands: it owns nothing of its user. */
function isOwner(principal: Principal, rule: PolicyRule, { userId, keyId }: PolicyObject): boolean {
  if (principal.kind !== "user")
    return principal.kind === "key" && rule.owners.includes("key") && principal.keyId === keyId;
  const isOfUser = principal.userId !== undefined && principal.userId === userId;
  return rule.owners.includes("user") && isOfUser && principal.issuer === undefined;
}

function grantsFor({ roles }: Principal, rule: PolicyRule): readonly RoleGrant[] {
  return roles.filter(({ role }) => includes(role, rule.role));
}

function covers(place: Place, { organizationId, teamId }: ObjectPlace): boolean {
  if (place.kind === "whole") return true;
  return place.kind === "team" ? place.id === teamId : place.id === organizationId;
}

function isSelf(place: Place, { self }: PolicyObject): boolean {
  return (
    self !== undefined &&
    place.kind !== "whole" &&
    self.kind === place.kind &&
    "id" in self &&
    self.id === place.id
  );
}

function idsOf(grants: readonly RoleGrant[], kind: "organization" | "team"): readonly string[] {
  const ids = grants.flatMap(({ place }) => (place.kind === kind ? [place.id] : []));
  return [...new Set(ids)];
}
