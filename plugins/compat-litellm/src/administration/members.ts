/** LiteLLM's routes of a team's members. */

import {
  type EdgeAnswer,
  type EdgeGateway,
  type ExtensionRequest,
  GatewayError,
  type JsonObject,
  type JsonValue,
} from "@sluice/contract";
import {
  adminRoute,
  type AdminExtensionRoute,
  get,
  mapped,
  objectIn,
  objectsIn,
  post,
} from "./calls.ts";
import { isUnset } from "./translate.ts";

/** What an addition of members gave: those that were added, or the answer that stopped it. */
interface Added {
  readonly members: readonly JsonObject[];
  readonly memberships: readonly JsonObject[];
  readonly failed: EdgeAnswer | undefined;
}

/**
 * The limits of a member, in the gateway's names. Other fields stay: the gateway's own route knows
 * them, or refuses them.
 */
function limitsOf(body: JsonObject): JsonObject {
  const { max_budget_in_team: max, allowed_models: models, ...limits } = withoutMembers(body);
  return {
    ...limits,
    ...(max !== undefined && { max_budget: max }),
    ...(models !== undefined && { models }),
  };
}

/** A body without the team and the members that it names. */
function withoutMembers(body: JsonObject): JsonObject {
  const { team_id: _team, member: _one, members: _all, ...others } = body;
  const { user_id: _user, user_email: _email, role: _role, ...rest } = others;
  return rest;
}

function roleOf(role: JsonValue | undefined): "admin" | "member" {
  return role === "admin" ? "admin" : "member";
}

/** Adds members. A user that does not exist is made, where the caller may do that. */
export async function addMembers(
  teamId: string,
  members: readonly JsonObject[],
  limits: JsonObject,
  gateway: EdgeGateway,
): Promise<Added> {
  const added: JsonObject[] = [];
  const memberships: JsonObject[] = [];
  for (const member of members) {
    // oxlint-disable-next-line no-await-in-loop -- one member after the other, as they are listed.
    const userId = await userOf(member, gateway);
    if (typeof userId !== "string") return { members: added, memberships, failed: userId };
    const role = roleOf(member.role);
    const body = { team_id: teamId, user_id: userId, role, ...limits };
    // oxlint-disable-next-line no-await-in-loop
    const answer = await post(gateway, "/team/member_add", body);
    if (answer.status >= 300) return { members: added, memberships, failed: answer };
    added.push({
      user_id: userId,
      user_email: member.user_email ?? null,
      role: role === "admin" ? "admin" : "user",
    });
    memberships.push(objectIn(answer));
  }
  return { members: added, memberships, failed: undefined };
}

/** The id of a user: the given one, or that of an e-mail. Returns the answer of a failure. */
async function userOf(member: JsonObject, gateway: EdgeGateway): Promise<string | EdgeAnswer> {
  const { user_id: id, user_email: email } = member;
  if (typeof id === "string" && id !== "") {
    const found = await get(gateway, "/user/info", { user_id: id });
    if (found.status === 200) return id;
    if (found.status !== 404) return found;
    const made = await post(gateway, "/user/new", {
      user_id: id,
      ...(isUnset(email) ? {} : { user_email: email ?? null }),
    });
    return made.status < 300 ? id : made;
  }
  if (typeof email !== "string" || email === "")
    throw new GatewayError("invalid_field", "A member needs a user_id or a user_email.", {
      param: "member",
    });
  const known = await userByEmail(email, gateway);
  if (known !== undefined) return known;
  const made = await post(gateway, "/user/new", { user_email: email });
  return made.status < 300 ? String(objectIn(made).user_id) : made;
}

/** The id of the user with an e-mail. */
export async function userByEmail(
  email: string,
  gateway: EdgeGateway,
): Promise<string | undefined> {
  const wanted = email.trim().toLowerCase();
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    // oxlint-disable-next-line no-await-in-loop -- pages come one after the other.
    const answer = await get(gateway, "/user/list", { limit: "200", cursor });
    const { users, next_cursor: next } = objectIn(answer);
    const found = objectsIn(users).find(
      ({ user_email: own }) => typeof own === "string" && own.toLowerCase() === wanted,
    );
    if (found !== undefined) return String(found.user_id);
    if (typeof next !== "string") return undefined;
    cursor = next;
  }
  return undefined;
}

const MAX_PAGES = 500;

async function add({ body }: ExtensionRequest, gateway: EdgeGateway): Promise<EdgeAnswer> {
  const { team_id: teamId } = body;
  const given = namedMembers(body);
  const {
    members: added,
    memberships,
    failed,
  } = await addMembers(String(teamId ?? ""), given, limitsOf(body), gateway);
  if (failed !== undefined) return failed;
  const team = await get(gateway, "/team/info", { team_id: String(teamId ?? "") });
  const all = await memberRows(String(teamId ?? ""), gateway);
  return mapped(team, ({ team_info: info }) => ({
    ...(info as JsonObject),
    members_with_roles: all.members,
    updated_users: added,
    updated_team_memberships: memberships,
  }));
}

/** The members of a body: in `member` or `members`, or one in the gateway's own form. */
function namedMembers(body: JsonObject): readonly JsonObject[] {
  const { member, members, user_id: id, user_email: email, role } = body;
  const given = [member, members].flat().filter((one) => one !== undefined) as JsonValue[];
  if (given.length === 0 && (!isUnset(id) || !isUnset(email)))
    return [{ user_id: id ?? null, user_email: email ?? null, role: role ?? null }];
  const found = objectsIn(given);
  if (found.length > 0 && found.length === given.length) return found;
  throw new GatewayError(
    "invalid_field",
    "The field member must be an object with a user_id or a user_email and a role, or an array of them.",
    { param: "member" },
  );
}

async function change({ body }: ExtensionRequest, gateway: EdgeGateway): Promise<EdgeAnswer> {
  const userId = await namedUser(body, gateway);
  const answer = await post(gateway, "/team/member_update", {
    team_id: body.team_id ?? null,
    user_id: userId,
    ...(isUnset(body.role) ? {} : { role: roleOf(body.role) }),
    ...limitsOf(body),
  });
  return mapped(answer, (member) => ({
    ...member,
    user_email: body.user_email ?? null,
    max_budget_in_team: member.max_budget ?? null,
  }));
}

async function remove({ body }: ExtensionRequest, gateway: EdgeGateway): Promise<EdgeAnswer> {
  const userId = await namedUser(body, gateway);
  return post(gateway, "/team/member_delete", {
    team_id: body.team_id ?? null,
    user_id: userId,
    keys: "delete",
  });
}

async function namedUser(body: JsonObject, gateway: EdgeGateway): Promise<string> {
  const { user_id: id, user_email: email } = body;
  if (typeof id === "string" && id !== "") return id;
  const found = typeof email === "string" ? await userByEmail(email, gateway) : undefined;
  if (found !== undefined) return found;
  throw new GatewayError("invalid_field", "No user has this user_id or user_email.", {
    param: "user_id",
  });
}

/** The members of a team in LiteLLM's two forms. */
export async function memberRows(
  teamId: string,
  gateway: EdgeGateway,
): Promise<{
  readonly members: readonly JsonObject[];
  readonly memberships: readonly JsonObject[];
}> {
  const answer = await get(gateway, "/team/member_list", { team_id: teamId, limit: "200" });
  const rows = answer.status === 200 ? objectsIn(objectIn(answer).members) : [];
  return {
    members: rows.map(({ user_id: userId, role }) => ({
      user_id: userId ?? null,
      user_email: null,
      role: role === "admin" ? "admin" : "user",
    })),
    memberships: rows.map((row) => ({
      user_id: row.user_id ?? null,
      team_id: row.team_id ?? null,
      budget_id: row.budget_id ?? null,
      litellm_budget_table: {
        max_budget: row.max_budget ?? null,
        budget_duration: row.budget_duration ?? null,
        rpm_limit: row.rpm_limit ?? null,
        tpm_limit: row.tpm_limit ?? null,
        allowed_models: row.models ?? [],
      },
    })),
  };
}

/** The routes. */
export const MEMBER_ROUTES: readonly AdminExtensionRoute[] = [
  adminRoute("POST /team/member_add", "member.write", add),
  adminRoute("POST /team/bulk_member_add", "member.write", add),
  adminRoute("POST /team/member_update", "member.write", change),
  adminRoute("POST /team/member_delete", "member.write", remove),
];
