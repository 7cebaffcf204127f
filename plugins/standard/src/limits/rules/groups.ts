/**
 * Groups: which counters are decided in one step where shared state has several servers. Those of
 * an organization, its teams and its memberships are one group. A user may be in several
 * organizations, and the user's keys in several teams: these are a group with their user.
 */

import type { Identity, StateGroup } from "@sluice/contract";

/** Whose counters they are. */
export type GroupKind = keyof typeof ORDER;

/** What an identity belongs to. */
export type Belonging = Pick<Identity, "keyId" | "userId" | "teamId" | "organizationId">;

/**
 * The order in which groups are asked: those first that refuse for the caller's own limits, last
 * those that all callers share.
 */
const ORDER = {
  organization: 0,
  team: 0,
  membership: 0,
  key: 0,
  key_model: 0,
  user: 1,
  pool: 2,
  customer: 3,
  tag: 4,
  model: 5,
  deployment: 6,
  provider: 7,
  global: 8,
} as const;

/** The group of a counter, by its kind and id, for requests of an identity. */
export function groupOf(kind: GroupKind, id: string, belonging: Belonging): StateGroup {
  switch (kind) {
    case "organization":
    case "team":
    case "membership":
      return homeOf(belonging);
    case "key":
    case "key_model":
      // A key that another one has made counts in both; they have the same user.
      return belonging.userId === undefined
        ? homeOf(belonging)
        : groupOf("user", belonging.userId, belonging);
    default:
      return { name: `${kind}:${id}`, order: ORDER[kind] };
  }
}

/** The widest thing that a key belongs to alone. */
function homeOf({ keyId, teamId, organizationId }: Belonging): StateGroup {
  if (organizationId !== undefined)
    return { name: `organization:${organizationId}`, order: ORDER.organization };
  if (teamId !== undefined) return { name: `team:${teamId}`, order: ORDER.team };
  return { name: `key:${keyId}`, order: ORDER.key };
}
