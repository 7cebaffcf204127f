/** LiteLLM's routes of organizations. */

import {
  type EdgeAnswer,
  type EdgeGateway,
  type ExtensionRequest,
  GatewayError,
  type JsonObject,
  type JsonValue,
} from "@sluice/contract";
import { isObject } from "@sluice/kit";
import {
  adminRoute,
  type AdminExtensionRoute,
  get,
  mapped,
  objectIn,
  objectsIn,
  post,
  write,
} from "./calls.ts";
import { userByEmail } from "./members.ts";
import { budgetTable, everyRecord, isRecords, LIMIT_RULES, recordOf, textsIn } from "./records.ts";
import { teamView } from "./teams.ts";
import { DROP, type FieldRules, isUnset, refused } from "./translate.ts";
import { userView } from "./users.ts";

const { organization_id: _own, ...SHARED } = LIMIT_RULES;
const RULES: FieldRules = { ...SHARED, model_spend: DROP, members: DROP, teams: DROP };

function organizationView(record: JsonObject): JsonObject {
  return {
    spend: 0,
    members: [],
    teams: [],
    ...record,
    litellm_budget_table: budgetTable(record),
    updated_at: record.created_at ?? null,
  };
}

function create({ body }: ExtensionRequest, gateway: EdgeGateway): Promise<EdgeAnswer> {
  if (isUnset(body.organization_alias) && isUnset(body.organization_id))
    throw missing("organization_alias", "a name for the organization");
  return write(gateway, body, {
    path: "/organization/new",
    rules: RULES,
    isNew: true,
    view: organizationView,
  });
}

function update({ client, body }: ExtensionRequest, gateway: EdgeGateway): Promise<EdgeAnswer> {
  const inPath = client.parameters["id"];
  const named = inPath === undefined ? body.organization_id : decodeURIComponent(inPath);
  return write(
    gateway,
    { ...body, organization_id: named ?? null },
    { path: "/organization/update", rules: RULES, isNew: false, view: organizationView },
  );
}

async function info({ query }: ExtensionRequest, gateway: EdgeGateway): Promise<EdgeAnswer> {
  const organizationId = query.get("organization_id") || undefined;
  const found = await recordOf(gateway, "organization", { organization_id: organizationId });
  if ("failed" in found) return found.failed;
  const users = await everyRecord(gateway, "/user/list", "users", {
    organization_id: organizationId,
  });
  const teams = await get(gateway, "/team/list");
  const all = objectsIn(isObject(teams.body) ? teams.body.teams : teams.body);
  return {
    status: 200,
    body: {
      ...organizationView(found.record),
      members: isRecords(users) ? users.map(userView) : [],
      teams: all.filter(({ organization_id: own }) => own === organizationId).map(teamView),
    },
  };
}

async function list({ query }: ExtensionRequest, gateway: EdgeGateway): Promise<EdgeAnswer> {
  const all = await everyRecord(gateway, "/organization/list", "organizations");
  if (!isRecords(all)) return all;
  const [id, alias] = [query.get("org_id"), query.get("org_alias")];
  const found = all.filter(
    ({ organization_id: own, organization_alias: name }) =>
      (id === null || own === id) && (alias === null || String(name ?? "").includes(alias)),
  );
  return { status: 200, body: found.map(organizationView) };
}

/** Deletes organizations. The answer is their rows. */
async function remove({ body }: ExtensionRequest, gateway: EdgeGateway): Promise<EdgeAnswer> {
  const ids = textsIn(body.organization_ids);
  const rows: JsonObject[] = [];
  for (const organizationId of ids) {
    // oxlint-disable-next-line no-await-in-loop -- a bounded list, one look-up after the other.
    const found = await recordOf(gateway, "organization", { organization_id: organizationId });
    if ("record" in found) rows.push(found.record);
  }
  const answer = await post(gateway, "/organization/delete", { organization_ids: ids });
  return mapped(answer, ({ deleted_organizations: deleted }) => {
    const done = new Set(textsIn(deleted));
    return rows.filter(({ organization_id: own }) => done.has(String(own))).map(organizationView);
  });
}

/** Puts users into an organization, or takes them from it. */
function memberChange(change: (now: readonly string[], organization: string) => readonly string[]) {
  return async ({ body }: ExtensionRequest, gateway: EdgeGateway): Promise<EdgeAnswer> => {
    const organizationId = String(body.organization_id ?? "");
    const { member } = body;
    const given = isUnset(member) ? [body] : ([member].flat() as JsonValue[]);
    const users: JsonObject[] = [];
    for (const one of objectsIn(given)) {
      // oxlint-disable-next-line no-await-in-loop -- one user after the other, as they are listed.
      const userId = await namedUser(one, gateway);
      // oxlint-disable-next-line no-await-in-loop
      const found = await recordOf(gateway, "user", { user_id: userId });
      if ("failed" in found) return found.failed;
      const organizations = change(textsIn(found.record.organizations), organizationId);
      // oxlint-disable-next-line no-await-in-loop
      const answer = await post(gateway, "/user/update", { user_id: userId, organizations });
      if (answer.status >= 300) return answer;
      users.push(userView(objectIn(answer)));
    }
    const memberships = users.map(({ user_id: userId }) => ({
      user_id: userId ?? null,
      organization_id: organizationId,
      user_role: "internal_user",
    }));
    return {
      status: 200,
      body: {
        organization_id: organizationId,
        updated_users: users,
        updated_organization_memberships: memberships,
      },
    };
  };
}

/**
 * The membership of a user in an organization. A role is given by `roles` of the user alone, and a
 * budget there by the user's own limits: what would change them is refused.
 */
async function updateMember({ body }: ExtensionRequest, gateway: EdgeGateway): Promise<EdgeAnswer> {
  const organizationId = String(body.organization_id ?? "");
  if (!isUnset(body.max_budget_in_organization))
    throw refused(
      "max_budget_in_organization",
      "Set `max_budget` of the user, or of the member of a team.",
    );
  if (body.role === "org_admin")
    throw refused("role", "Give the user the role admin at the organization: docs/roles.md.");
  const userId = await namedUser(body, gateway);
  const found = await recordOf(gateway, "user", { user_id: userId });
  if ("failed" in found) return found.failed;
  if (!textsIn(found.record.organizations).includes(organizationId))
    throw new GatewayError("not_found", "The user is no member of the organization.", {
      param: "user_id",
    });
  return {
    status: 200,
    body: {
      user_id: userId,
      organization_id: organizationId,
      user_role: body.role ?? "internal_user",
      spend: found.record.spend ?? 0,
      budget_id: null,
      user: userView(found.record),
    },
  };
}

async function namedUser(member: JsonObject, gateway: EdgeGateway): Promise<string> {
  const { user_id: id, user_email: email } = member;
  if (typeof id === "string" && id !== "") return id;
  const found = typeof email === "string" ? await userByEmail(email, gateway) : undefined;
  if (found !== undefined) return found;
  throw missing("user_id", "a user, by user_id or user_email");
}

function missing(name: string, what: string): GatewayError {
  return new GatewayError("invalid_field", `The field ${name} is missing: ${what}.`, {
    param: name,
  });
}

/** The routes. */
export const ORGANIZATION_ROUTES: readonly AdminExtensionRoute[] = [
  adminRoute("POST /organization/new", "organization.create", create),
  adminRoute("PATCH /organization/update", "organization.update", update),
  adminRoute("PATCH /v2/organization/{id}", "organization.update", update),
  adminRoute("GET /organization/info", "organization.read", info),
  adminRoute("GET /organization/list", "organization.read", list),
  adminRoute("DELETE /organization/delete", "organization.delete", remove),
  adminRoute(
    "POST /organization/member_add",
    "user.update",
    memberChange((now, organization) => [...new Set([...now, organization])]),
  ),
  adminRoute("PATCH /organization/member_update", "user.update", updateMember),
  adminRoute(
    "DELETE /organization/member_delete",
    "user.update",
    memberChange((now, organization) => now.filter((one) => one !== organization)),
  ),
];
