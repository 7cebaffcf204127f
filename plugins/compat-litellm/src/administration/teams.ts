/** LiteLLM's routes of teams. */

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
  getOwn,
  mapped,
  objectIn,
  objectsIn,
  pick,
  post,
  write,
} from "./calls.ts";
import { keyView, relayed } from "./keys.ts";
import { addMembers, memberRows } from "./members.ts";
import { permissionsOf } from "./member-permissions.ts";
import { DROP, type FieldRules, id, isUnset, MODELS } from "./translate.ts";

const NONE = "Leave it out, or restrict the team by `models`, limits and guardrails.";

export const TEAM_RULES: FieldRules = {
  models: MODELS,
  organization_id: id("organization_id"),
  budget_id: id("budget_id"),
  budget_limits: { refuse: "Use `max_budget` with `budget_duration`, and `budget_id`." },
  tpd_limit: { refuse: "Use `tpm_limit`, or a budget with `budget_duration: 1d`." },
  object_permission: { refuse: NONE },
  allowed_vector_store_indexes: { refuse: NONE },
  denied_passthrough_routes: { refuse: NONE },
  policies: { refuse: "Use `guardrails`." },
  prompts: { refuse: NONE },
  access_group_ids: DROP,
  admins: DROP,
  allowed_passthrough_routes: DROP,
  budget_reset_at: DROP,
  logging: DROP,
  members: DROP,
  model_id: DROP,
  router_settings: DROP,
  rpm_limit_type: DROP,
  secret_manager_settings: DROP,
  spend: DROP,
  team_member_key_duration: DROP,
  team_member_permissions: DROP,
  tpm_limit_type: DROP,
};

/** Limits of members without limits of their own, and the gateway's names for them. */
const MEMBER_DEFAULTS: readonly (readonly [string, string])[] = [
  ["team_member_budget", "max_budget"],
  ["team_member_budget_duration", "budget_duration"],
  ["team_member_rpm_limit", "rpm_limit"],
  ["team_member_tpm_limit", "tpm_limit"],
];

/** The body without what is written by other routes. */
function ownFields({ members_with_roles: _members, name, ...body }: JsonObject): JsonObject {
  const rest: Record<string, JsonValue | undefined> = { ...body };
  const defaults: Record<string, JsonValue> = {};
  for (const [from, to] of MEMBER_DEFAULTS) {
    const value = rest[from];
    delete rest[from];
    // LiteLLM's 0 of a team's default means none.
    if (value !== undefined && value !== null && value !== 0) defaults[to] = value;
  }
  const { default_team_member_models: models } = rest;
  delete rest["default_team_member_models"];
  if (!isUnset(models)) defaults["models"] = models ?? [];
  if (Object.keys(defaults).length > 0) rest["member_defaults"] = defaults;
  if (isUnset(rest["team_alias"]) && !isUnset(name)) rest["team_alias"] = name;
  return rest as JsonObject;
}

/** The view of a team, with LiteLLM's further members. */
export function teamView(record: JsonObject): JsonObject {
  return {
    spend: 0,
    members_with_roles: [],
    members: [],
    admins: [],
    ...record,
    team_member_permissions: permissionsOf(record),
    litellm_model_table: null,
    updated_at: record.created_at ?? null,
  };
}

async function create({ body }: ExtensionRequest, gateway: EdgeGateway): Promise<EdgeAnswer> {
  const answer = await write(gateway, ownFields(body), {
    path: "/team/new",
    rules: TEAM_RULES,
    isNew: true,
    view: teamView,
  });
  const members = objectsIn(body.members_with_roles);
  if (answer.status >= 300 || members.length === 0) return answer;
  const teamId = String(objectIn(answer).team_id);
  const added = await addMembers(teamId, members, {}, gateway);
  if (added.failed !== undefined) return added.failed;
  return mapped(answer, (team) => ({ ...team, members_with_roles: added.members }));
}

async function update(
  { client, body }: ExtensionRequest,
  gateway: EdgeGateway,
): Promise<EdgeAnswer> {
  const inPath = client.parameters["team_id"];
  const named = inPath === undefined ? body.team_id : decodeURIComponent(inPath);
  if (inPath !== undefined && body.team_id !== undefined && body.team_id !== named)
    throw new GatewayError("invalid_field", "The field team_id names another team than the path.", {
      param: "team_id",
    });
  const answer = await write(
    gateway,
    { ...ownFields(body), team_id: named ?? null },
    {
      path: "/team/update",
      rules: TEAM_RULES,
      isNew: false,
      view: (record) => ({ ...record, data: teamView(isObject(record.data) ? record.data : {}) }),
    },
  );
  if (inPath === undefined) return answer;
  return mapped(answer, ({ data }) => data ?? {});
}

async function info(request: ExtensionRequest, gateway: EdgeGateway): Promise<EdgeAnswer> {
  const answer = await getOwn(gateway, "/team/info", pick(request, "team_id"));
  if (answer.status !== 200) return answer;
  const { members, memberships } = await memberRows(request.query.get("team_id") ?? "", gateway);
  return mapped(answer, ({ team_info: found, keys, ...rest }) => ({
    ...rest,
    team_info: {
      ...teamView(isObject(found) ? found : {}),
      members_with_roles: members,
    },
    keys: objectsIn(keys).map(keyView),
    team_memberships: memberships,
  }));
}

/** Every team that the caller may see. */
async function all(gateway: EdgeGateway): Promise<EdgeAnswer> {
  return get(gateway, "/team/list");
}

async function list(request: ExtensionRequest, gateway: EdgeGateway): Promise<EdgeAnswer> {
  const answer = await all(gateway);
  if (answer.status !== 200) return answer;
  const organization = request.query.get("organization_id");
  const teams = teamsIn(answer).filter(
    ({ organization_id: own }) => organization === null || own === organization,
  );
  return { status: 200, body: teams.map((team) => ({ ...teamView(team), keys: [] })) };
}

const DEFAULT_SIZE = 10;
const MAX_SIZE = 100;

async function pages(request: ExtensionRequest, gateway: EdgeGateway): Promise<EdgeAnswer> {
  const answer = await all(gateway);
  if (answer.status !== 200) return answer;
  const { query } = request;
  const wanted = (name: string): string | null => query.get(name) || null;
  const [teamId, alias, organization, search] = [
    wanted("team_id"),
    wanted("team_alias"),
    wanted("organization_id"),
    wanted("search"),
  ];
  const has = (value: JsonValue | undefined, part: string | null): boolean =>
    part === null || String(value ?? "").includes(part);
  const found = teamsIn(answer).filter(
    (team) =>
      (teamId === null || team.team_id === teamId) &&
      has(team.team_alias, alias) &&
      (organization === null || team.organization_id === organization) &&
      (has(team.team_alias, search) || has(team.team_id, search)),
  );
  const size = wholeIn(query.get("page_size"), DEFAULT_SIZE, MAX_SIZE);
  const page = wholeIn(query.get("page"), 1, 1_000_000);
  return {
    status: 200,
    body: {
      teams: found.slice((page - 1) * size, page * size).map(teamView),
      total: found.length,
      page,
      page_size: size,
      total_pages: Math.ceil(found.length / size),
    },
  };
}

function teamsIn({ body }: EdgeAnswer): readonly JsonObject[] {
  return objectsIn(isObject(body) ? body.teams : body);
}

export function wholeIn(text: string | null, otherwise: number, maximum: number): number {
  const value = text !== null && /^\d{1,9}$/.test(text) ? Number(text) : otherwise;
  return Math.min(maximum, Math.max(1, value));
}

/** Adds models to a team's list, or takes them from it. */
type ChangeModels = (models: readonly string[], named: readonly string[]) => readonly string[];

function modelChange(change: ChangeModels) {
  return async ({ body }: ExtensionRequest, gateway: EdgeGateway): Promise<EdgeAnswer> => {
    const teamId = String(body.team_id ?? "");
    const found = await get(gateway, "/team/info", { team_id: teamId });
    if (found.status !== 200) return found;
    const team = objectIn(found).team_info;
    const before = textsIn(isObject(team) ? team.models : []);
    const models = change(before, textsIn(body.models));
    // An empty list allows every model.
    if (before.length === 0) return mapped(found, () => teamView(isObject(team) ? team : {}));
    if (models.length === 0)
      throw new GatewayError(
        "invalid_field",
        "The team would have no model of its list left, which would allow all models. Delete or block the team, or leave it one.",
        { param: "models" },
      );
    const answer = await post(gateway, "/team/update", { team_id: teamId, models });
    return mapped(answer, ({ data }) => teamView(isObject(data) ? data : {}));
  };
}

function textsIn(value: JsonValue | undefined): readonly string[] {
  const list = Array.isArray(value) ? (value as readonly JsonValue[]) : [];
  return list.filter((one): one is string => typeof one === "string");
}

/** The routes. */
export const TEAM_ROUTES: readonly AdminExtensionRoute[] = [
  adminRoute("POST /team/new", "team.create", create),
  adminRoute("POST /team/update", "team.update", update),
  adminRoute("PATCH /team/{team_id}", "team.update", update),
  adminRoute("GET /team/info", "key", info),
  adminRoute("GET /team/list", "team.read", list),
  adminRoute("GET /v2/team/list", "team.read", pages),
  adminRoute("GET /team/available", "key", () => ({ status: 200, body: [] })),
  adminRoute(
    "POST /team/model/add",
    "team.update",
    modelChange((models, named) => [...new Set([...models, ...named])]),
  ),
  adminRoute(
    "POST /team/model/delete",
    "team.update",
    modelChange((models, named) => models.filter((model) => !named.includes(model))),
  ),
];

/** Routes of the gateway's own that have LiteLLM's form: for the public listener. */
export const PLAIN_TEAM_ROUTES: readonly AdminExtensionRoute[] = [
  relayed("POST /team/delete", "team.delete"),
  relayed("POST /team/block", "team.block"),
  relayed("POST /team/unblock", "team.unblock"),
];
