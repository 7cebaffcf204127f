/** LiteLLM's routes of users. */

import {
  type EdgeAnswer,
  type EdgeGateway,
  type ExtensionRequest,
  GatewayError,
  type JsonObject,
} from "@sluice/contract";
import { isObject } from "@sluice/kit";
import {
  adminRoute,
  type AdminExtensionRoute,
  get,
  getOwn,
  mapped,
  objectIn,
  objectsIn,
  post,
  write,
} from "./calls.ts";
import { KEY_RULES, keyView } from "./keys.ts";
import { addMembers, userByEmail } from "./members.ts";
import { everyRecord, isRecords, LIMIT_RULES, recordOf, textsIn } from "./records.ts";
import { teamView, wholeIn } from "./teams.ts";
import { DROP, type FieldRules, id, isUnset, refused } from "./translate.ts";

/** Roles that every user has here: keys of their own, and their rows. */
const PLAIN_ROLES: ReadonlySet<unknown> = new Set([
  "internal_user",
  "internal_user_viewer",
  "customer",
]);

export const USER_RULES: FieldRules = {
  ...LIMIT_RULES,
  user_id: id("user_id"),
  allowed_cache_controls: { refuse: "Leave it out." },
  password: { refuse: "Users sign in with keys or with the company's sign-in." },
  aliases: DROP,
  auto_create_key: DROP,
  config: DROP,
  permissions: DROP,
  send_invite_email: DROP,
  sso_user_id: DROP,
  team_id: DROP,
  user_role: DROP,
};

/** The view of a user, with LiteLLM's further members. */
export function userView(record: JsonObject): JsonObject {
  return {
    spend: 0,
    user_role: "internal_user",
    teams: [],
    ...record,
    sso_user_id: null,
    model_max_budget: {},
    updated_at: record.created_at ?? null,
  };
}

/** Fields that belong to the key which LiteLLM makes beside a user. */
const OF_KEY = ["key_alias", "duration"];

async function create({ body }: ExtensionRequest, gateway: EdgeGateway): Promise<EdgeAnswer> {
  const { teams, auto_create_key: makesKey = true, ...fields } = body;
  const { key_alias: alias = null, duration = null, aliases = null, ...others } = fields;
  const rest: JsonObject = makesKey === false ? { ...others, aliases } : others;
  refuseNoModels(rest);
  const plain = PLAIN_ROLES.has(rest.user_role) ? { ...rest, user_role: null } : rest;
  const answer = await write(
    gateway,
    { ...plain, auto_create_key: null },
    { path: "/user/new", rules: USER_RULES, isNew: true, view: userView },
  );
  if (answer.status >= 300) return answer;
  const user = objectIn(answer);
  const userId = String(user.user_id);
  for (const team of Array.isArray(teams) ? teams : []) {
    const given: JsonObject = isObject(team) ? team : { team_id: team };
    const member = { user_id: userId, role: given.user_role === "admin" ? "admin" : "user" };
    const limits = isUnset(given.max_budget_in_team)
      ? {}
      : { max_budget: given.max_budget_in_team ?? null };
    // oxlint-disable-next-line no-await-in-loop -- one team after the other, as they are listed.
    const added = await addMembers(String(given.team_id ?? ""), [member], limits, gateway);
    if (added.failed !== undefined) return added.failed;
  }
  const joined = Array.isArray(teams)
    ? teams.map((team) => (isObject(team) ? (team.team_id ?? null) : team))
    : [];
  if (makesKey === false) return mapped(answer, (view) => ({ ...view, teams: joined, key: "" }));
  const key = await write(
    gateway,
    { user_id: userId, key_alias: alias, duration, aliases },
    { path: "/key/generate", rules: KEY_RULES, isNew: true, view: keyView },
  );
  if (key.status >= 300) return key;
  const { key: secret = null, token_id: token = null, expires = null } = objectIn(key);
  return mapped(answer, (view) => ({
    ...view,
    teams: joined,
    key: secret,
    token,
    token_id: token,
    expires,
  }));
}

/** Here the models of a user hold for keys in teams too, and LiteLLM's word means all others. */
function refuseNoModels({ models }: JsonObject): void {
  if (textsIn(models).includes("no-default-models"))
    throw refused("models", "Give `models` to the user's keys without a team.");
}

async function update({ body }: ExtensionRequest, gateway: EdgeGateway): Promise<EdgeAnswer> {
  const { user_id: named, ...rest } = body;
  refuseNoModels(rest);
  const { user_email: email } = rest;
  const userId =
    typeof named === "string" && named !== ""
      ? named
      : typeof email === "string"
        ? await userByEmail(email, gateway)
        : undefined;
  // LiteLLM makes a user of a mistyped id: here it does not exist.
  if (userId === undefined)
    throw new GatewayError("not_found", "No user has this user_id or user_email.", {
      param: "user_id",
    });
  const changes = Object.entries(rest).filter(
    ([name]) => !OF_KEY.includes(name) && (isUnset(named) ? name !== "user_email" : true),
  );
  const plain = PLAIN_ROLES.has(rest.user_role) ? { user_role: null } : {};
  return write(
    gateway,
    { ...Object.fromEntries(changes), ...plain, user_id: userId },
    {
      path: "/user/update",
      rules: USER_RULES,
      isNew: false,
      view: (record) => ({ user_id: userId, data: userView(record) }),
    },
  );
}

/** The user, the user's keys and teams. */
async function info({ query }: ExtensionRequest, gateway: EdgeGateway): Promise<EdgeAnswer> {
  const userId = query.get("user_id") || undefined;
  const answer = await getOwn(gateway, "/user/info", { user_id: userId });
  if (answer.status !== 200) return answer;
  const { user_info: found } = objectIn(answer);
  const user = isObject(found) ? found : {};
  const own = String(user.user_id ?? userId ?? "");
  const keys = await get(gateway, "/key/list", {
    user_id: own,
    size: "100",
    return_full_object: "true",
  });
  const members = await get(gateway, "/team/member_list", { user_id: own, limit: "200" });
  const rows = members.status === 200 ? objectsIn(objectIn(members).members) : [];
  const teams: JsonObject[] = [];
  for (const { team_id: teamId } of rows) {
    // oxlint-disable-next-line no-await-in-loop -- a user has few teams.
    const team = await get(gateway, "/team/info", { team_id: String(teamId) });
    const { team_info: view } = objectIn(team);
    if (team.status === 200 && isObject(view)) teams.push(teamView(view));
  }
  return {
    status: 200,
    body: {
      user_id: own,
      user_info: { ...userView(user), teams: rows.map(({ team_id: teamId }) => teamId ?? null) },
      keys: keys.status === 200 ? objectsIn(objectIn(keys).keys).map(keyView) : [],
      teams,
    },
  };
}

async function flatInfo({ query }: ExtensionRequest, gateway: EdgeGateway): Promise<EdgeAnswer> {
  const found = await recordOf(gateway, "user", { user_id: query.get("user_id") || undefined });
  return "failed" in found ? found.failed : { status: 200, body: userView(found.record) };
}

const DEFAULT_SIZE = 25;
const MAX_SIZE = 100;

async function list({ query }: ExtensionRequest, gateway: EdgeGateway): Promise<EdgeAnswer> {
  const users = await everyRecord(gateway, "/user/list", "users", {
    team_id: query.get("team") || undefined,
  });
  if (!isRecords(users)) return users;
  const ids = query.get("user_ids")?.split(",");
  const email = query.get("user_email")?.toLowerCase();
  const search = query.get("search")?.toLowerCase();
  const has = (user: JsonObject, part: string, ...members: readonly string[]): boolean =>
    members.some((name) =>
      String(user[name] ?? "")
        .toLowerCase()
        .includes(part),
    );
  const found = users.filter(
    (user) =>
      (ids === undefined || ids.includes(String(user.user_id))) &&
      (email === undefined || has(user, email, "user_email")) &&
      (search === undefined || has(user, search, "user_email", "user_alias", "user_id")),
  );
  const size = wholeIn(query.get("page_size"), DEFAULT_SIZE, MAX_SIZE);
  const page = wholeIn(query.get("page"), 1, 1_000_000);
  return {
    status: 200,
    body: {
      users: found.slice((page - 1) * size, page * size).map(userView),
      total: found.length,
      page,
      page_size: size,
      total_pages: Math.ceil(found.length / size),
    },
  };
}

/** Deletes users with their keys. The answer is their number. */
async function remove({ body }: ExtensionRequest, gateway: EdgeGateway): Promise<EdgeAnswer> {
  const answer = await post(gateway, "/user/delete", {
    user_ids: body.user_ids ?? null,
    keys: "delete",
  });
  return mapped(answer, ({ deleted_users: deleted }) => textsIn(deleted).length);
}

/** The routes. */
export const USER_ROUTES: readonly AdminExtensionRoute[] = [
  adminRoute("POST /user/new", "user.create", create),
  adminRoute("POST /user/update", "user.update", update),
  adminRoute("GET /user/info", "key", info),
  adminRoute("GET /v2/user/info", "key", flatInfo),
  adminRoute("GET /user/list", "user.read", list),
  adminRoute("POST /user/delete", "user.delete", remove),
];
