/**
 * Which actions on single objects a session may do, so that the page leaves out the others. The
 * gateway decides; a test holds this table against its own.
 */

/** The strength of a role. */
const RANKS = { viewer: 0, keys: 1, operator: 2, admin: 3 } as const;

type Role = keyof typeof RANKS;

interface Rule {
  readonly role: Role;
  /** `above`: at a place around the object. `each`: at each of its places. */
  readonly reach?: "above" | "whole" | "each";
  /** Its user needs no role. */
  readonly isOwners?: true;
}

/** The actions that screens offer on objects. */
export const OBJECT_RULES: Readonly<Record<string, Rule>> = {
  "key.create": { role: "keys" },
  "key.update": { role: "keys" },
  "key.rotate": { role: "keys", isOwners: true },
  "key.block": { role: "keys", isOwners: true },
  "key.unblock": { role: "keys" },
  "key.delete": { role: "keys", isOwners: true },
  "team.update": { role: "keys" },
  "team.block": { role: "keys" },
  "team.unblock": { role: "keys", reach: "above" },
  "team.delete": { role: "admin", reach: "above" },
  "member.write": { role: "keys" },
  "organization.update": { role: "admin" },
  "organization.delete": { role: "admin", reach: "whole" },
  "user.update": { role: "admin", reach: "each" },
  "user.delete": { role: "admin", reach: "each" },
  "role.grant": { role: "admin", reach: "each" },
  "customer.write": { role: "admin" },
};

/** A role at a place, as the session shows it: `whole`, `team:support`. */
export interface Grant {
  readonly role: Role;
  readonly at: string;
}

/** Where an object is. */
export interface ObjectPlace {
  readonly organizations?: readonly (string | null)[];
  readonly team?: string | null;
  readonly user?: string | null;
  /** The place that the object itself is: `team:support`. */
  readonly self?: string;
}

/** Whether grants allow an action on an object. */
export function isAllowedOn(
  action: string,
  object: ObjectPlace,
  { grants, user }: { readonly grants: readonly Grant[]; readonly user: string | null },
): boolean {
  const rule = OBJECT_RULES[action];
  if (rule === undefined) return true;
  if (rule.isOwners === true && user !== null && object.user === user) return true;
  const places = grants.filter(({ role }) => RANKS[role] >= RANKS[rule.role]).map(({ at }) => at);
  if (places.includes("whole")) return true;
  if (rule.reach === "whole") return false;
  const counted = rule.reach === "above" ? places.filter((at) => at !== object.self) : places;
  const organizations = (object.organizations ?? []).filter((one) => one !== null);
  if (rule.reach === "each")
    return (
      organizations.length > 0 &&
      organizations.every((one) => counted.includes(`organization:${one}`))
    );
  if (organizations.some((one) => counted.includes(`organization:${one}`))) return true;
  const { team = null } = object;
  if (team === null) return false;
  // The organization of a key follows from its team, which the key does not show.
  const isUnknown = organizations.length === 0;
  return (
    counted.includes(`team:${team}`) ||
    (isUnknown && counted.some((at) => at.startsWith("organization:")))
  );
}
