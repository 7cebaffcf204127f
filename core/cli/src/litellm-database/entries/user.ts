/** A row of LiteLLM_UserTable. */

import { defined, idAt, objectAt, type Row, textAt } from "../values.ts";
import { blockOf, modelsOf, type Reading } from "./block.ts";
import { type Entry, type LeftOut, type Loss, NO_MODEL } from "./entry.ts";
import { lost } from "./losses.ts";

/** The row that counts the spend of all, under `litellm_settings.max_budget`. */
const PROXY_BUDGET = "litellm-proxy-budget";

/** Roles at the whole. LiteLLM takes every other one as that of an ordinary user. */
const ROLES: Readonly<Record<string, string>> = {
  proxy_admin: "admin",
  proxy_admin_viewer: "viewer",
};
const ORDINARY = ["internal_user", "internal_user_viewer", "team", "customer"];

/** The user. */
export function userEntry(row: Row, reading: Reading): Entry | LeftOut {
  const id = idAt(row, "user_id");
  if (id === undefined) return { name: "a user", leftOut: "it has no user_id" };
  const name = `user ${JSON.stringify(id)}`;
  if (id === PROXY_BUDGET)
    return { id, name, leftOut: "it is the budget of all; write a budget of the step limits" };
  const { index } = reading;
  const given = modelsOf(row, [], false);
  // This word bounds keys of the user alone: those without a team get it.
  const models = given.includes(NO_MODEL) ? [] : given;
  const { fields, ...block } = blockOf(row, models, reading);
  const grants = index.organizationRoles.get(id) ?? [];
  const ownOrganization = idAt(row, "organization_id");
  const organizations = new Set([
    ...grants.map(({ organizationId }) => organizationId),
    ...(index.keyOrganizations.get(id) ?? []),
    ...(ownOrganization === undefined ? [] : [ownOrganization]),
  ]);
  const role = ROLES[textAt(row, "user_role") ?? ""];
  const roles = [
    ...(role === undefined ? [] : [{ role, at: "whole" }]),
    ...grants.flatMap(({ organizationId, isAdmin }) =>
      isAdmin ? [{ role: "admin", at: "organization", organization_id: organizationId }] : [],
    ),
  ];
  return {
    ...block,
    id,
    name,
    body: {
      user_id: id,
      ...defined("user_alias", textAt(row, "user_alias")),
      ...defined("user_email", textAt(row, "user_email")),
      organizations: [...organizations],
      roles,
      ...fields,
      blocked: fields["blocked"] === true || isDeactivated(row),
    },
    references: [
      ...block.references,
      ...[...organizations].map((organization) => ({
        table: "organizations" as const,
        id: organization,
        field: "organizations",
      })),
    ],
    losses: [...block.losses, ...lossesOf(row, reading)],
  };
}

/** Whether the directory of the company has ended the user's account. */
function isDeactivated(row: Row): boolean {
  return objectAt(row, "metadata")["scim_active"] === false;
}

function lossesOf(row: Row, { countsUserBudgets }: Reading): Loss[] {
  const role = textAt(row, "user_role");
  const isUnknown = role !== undefined && !(role in ROLES) && !ORDINARY.includes(role);
  return [
    ...(isUnknown ? [{ column: "user_role", why: "the role is unknown; the user has none" }] : []),
    ...(role !== undefined && role in ROLES
      ? [{ column: "user_role", why: "keys of the user have the role when they get admin: true" }]
      : []),
    ...(countsUserBudgets
      ? []
      : lost(row, "model_max_budget", "it does not count for keys in teams: --user-budgets count")),
    ...lost(row, "password", "passwords are not taken over"),
    ...lost(row, "sso_user_id", "the link to the sign-in of LiteLLM is not taken over"),
  ];
}
