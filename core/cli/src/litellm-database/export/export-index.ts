/** What rows of an export say about rows of its other tables. Rows themselves are not held. */

import type { Row } from "../values.ts";

/** Who is in a team. */
export interface Member {
  readonly role: "admin" | "member";
  /** The row of LiteLLM_TeamMembership; absent: there is none. */
  readonly row?: Row;
  readonly at: string;
}

/** A user in an organization. */
export interface OrganizationRole {
  readonly organizationId: string;
  readonly isAdmin: boolean;
}

/** The index of an export. Ids are in Unicode NFC. */
export interface ExportIndex {
  /** Tables that the export has. */
  readonly tables: Set<string>;
  readonly budgets: Map<string, Row>;
  readonly organizations: Set<string>;
  /** Names of access groups by their ids. */
  readonly groups: Map<string, string>;
  /** Other names of models by the ids of LiteLLM_ModelTable. */
  readonly aliases: Map<string, Row>;
  /** Users, and whether they may use no model with keys of their own. */
  readonly users: Map<string, { readonly hasNoModels: boolean }>;
  readonly organizationRoles: Map<string, OrganizationRole[]>;
  /** Organizations by teams; `null`: the team has none. */
  readonly teams: Map<string, string | null>;
  /** Members by their teams. */
  readonly members: Map<string, Map<string, Member>>;
  /** Organizations of keys without a team, by the user. */
  readonly keyOrganizations: Map<string, Set<string>>;
  /** Users and teams of keys, until their memberships are complete. */
  readonly keyMembers: { readonly userId: string; readonly teamId: string; readonly at: string }[];
  /** Teams and organizations of keys, as JSON. */
  readonly keyPlaces: Set<string>;
}

/** An index of nothing. */
export function emptyIndex(): ExportIndex {
  return {
    tables: new Set(),
    budgets: new Map(),
    organizations: new Set(),
    groups: new Map(),
    aliases: new Map(),
    users: new Map(),
    organizationRoles: new Map(),
    teams: new Map(),
    members: new Map(),
    keyOrganizations: new Map(),
    keyMembers: [],
    keyPlaces: new Set(),
  };
}

/** The value of a key, made when it is missing. */
export function valueOf<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
