/**
 * The policy of administration: which role may do what, and where. The table is data: the admin
 * listener, the page of the documentation and the test of every role and route are made from it.
 */

import type { Role } from "./records.ts";

/** Where a role counts for an action. */
export type PolicyReach =
  /** At the whole, at an organization of the object, or at a team of the object. */
  | "any"
  /** At a place that contains the object, and not at the object itself. */
  | "above"
  /** At the whole alone. */
  | "whole";

/** Owners that need no role: the user of an object, or the key that asks about itself. */
export type PolicyOwner = "user" | "key";

/** A row of the table. */
export interface PolicyRule {
  /** What the action does, for the documentation. */
  readonly about: string;
  /** The weakest role that may do it. */
  readonly role: Role;
  readonly reach: PolicyReach;
  /** An object of several places needs the role at each of them. Absent: one is enough. */
  readonly isAtEach?: true;
  readonly owners: readonly PolicyOwner[];
  /** `server.admin.read_key` may do it too. */
  readonly readKey?: true;
}

const NONE: readonly PolicyOwner[] = Object.freeze([]);
const USER: readonly PolicyOwner[] = Object.freeze(["user"] as const);
const BOTH: readonly PolicyOwner[] = Object.freeze(["user", "key"] as const);

function rule(
  role: Role,
  reach: PolicyReach,
  about: string,
  owners: readonly PolicyOwner[] = NONE,
): PolicyRule {
  return { about, role, reach, owners };
}

const TABLE = {
  "metrics.read": { ...rule("viewer", "whole", "read the metrics"), readKey: true },
  "status.read": { ...rule("viewer", "whole", "read what runs"), readKey: true },
  "deployment.read": { ...rule("viewer", "whole", "read the state of deployments"), readKey: true },
  "model.read": rule("viewer", "whole", "read models with their targets and prices"),
  "guardrail.read": rule("viewer", "whole", "read what guardrails did"),
  "overview.read": rule("viewer", "whole", "read the overview"),
  "deployment.hold": rule("operator", "whole", "hold a deployment, and release it"),
  "deployment.reset": rule("operator", "whole", "make a deployment healthy"),
  "api.read": rule("viewer", "any", "read the description of the admin listener"),
  "config.read": rule("viewer", "whole", "read the configuration and its history"),
  "config.preview": rule("operator", "whole", "compare and check configurations"),
  "config.test": rule("admin", "whole", "run the tests of a configuration that is not applied"),
  "config.write": rule("admin", "whole", "write the files of the configuration, and apply them"),
  "config.reload": rule("operator", "whole", "apply edited files, also as a canary"),
  "config.push": rule("admin", "whole", "push a configuration to the store"),
  "config.canary": rule("operator", "whole", "promote or abort a canary"),
  "config.rollback": rule("operator", "whole", "apply an earlier configuration"),
  "gateway.restart": rule("operator", "whole", "replace the workers"),
  "request.read": rule("viewer", "any", "list and explain requests", USER),
  "spend.read": rule("viewer", "any", "read spend rows and sums", BOTH),
  "audit.read": rule("admin", "any", "read the audit"),
  "audit.export": rule("admin", "any", "export the audit"),
  "session.read": rule("admin", "whole", "list the sessions of browsers"),
  "session.end": rule("admin", "whole", "end sessions of browsers"),

  "key.read": rule("viewer", "any", "list keys, read one", BOTH),
  "key.create": rule("keys", "any", "make a key"),
  "key.update": rule("keys", "any", "change a key, also its team"),
  "key.rotate": rule("keys", "any", "give a key a new secret", BOTH),
  "key.block": rule("keys", "any", "block a key", USER),
  "key.unblock": rule("keys", "any", "unblock a key"),
  "key.delete": rule("keys", "any", "delete a key", USER),
  "key.play": rule("operator", "any", "send requests in the playground as a key", USER),
  "key.import": rule("admin", "whole", "import keys of another gateway"),

  "team.read": rule("viewer", "any", "list teams, read one", ["key"]),
  "team.create": rule("admin", "above", "make a team"),
  "team.update": rule("keys", "any", "change a team"),
  "team.block": rule("keys", "any", "block a team"),
  "team.unblock": rule("keys", "above", "unblock a team"),
  "team.delete": rule("admin", "above", "delete a team"),
  "team.import": rule("admin", "whole", "import teams of another gateway"),

  "tenant.import": rule("admin", "whole", "import organizations, users, members and customers"),

  "organization.read": rule("viewer", "any", "list organizations, read one"),
  "organization.create": rule("admin", "whole", "make an organization"),
  "organization.update": rule("admin", "any", "change an organization"),
  "organization.delete": rule("admin", "whole", "delete an organization"),

  "user.read": rule("viewer", "any", "list users, read one", BOTH),
  "user.create": { ...rule("admin", "any", "make a user"), isAtEach: true },
  "user.update": { ...rule("admin", "any", "change a user"), isAtEach: true },
  "user.delete": { ...rule("admin", "any", "delete a user"), isAtEach: true },
  "role.grant": { ...rule("admin", "any", "give and take roles at a place"), isAtEach: true },

  "member.read": rule("viewer", "any", "list the members of a team", USER),
  "member.write": rule("keys", "any", "add, change and remove members of a team"),

  "customer.read": rule("viewer", "any", "list customers, read one"),
  "customer.write": rule("admin", "any", "make, change and delete customers"),
  "budget.read": rule("viewer", "any", "list budgets, read one"),
  "budget.write": rule("admin", "any", "make, change and delete budgets"),
  "access_group.read": rule("viewer", "any", "list access groups, read one"),
  "access_group.write": rule("admin", "any", "make, change and delete access groups"),
} as const satisfies Readonly<Record<string, PolicyRule>>;

/** What can be done: a row of the table. */
export type PolicyAction = keyof typeof TABLE;

/** The table. An action that a role, its place or an ownership does not allow is refused. */
export const POLICY: Readonly<Record<PolicyAction, PolicyRule>> = TABLE;

/** Roles, from the weakest to the strongest. */
export const ROLES: readonly Role[] = Object.freeze(["viewer", "keys", "operator", "admin"]);
