/** LiteLLM's routes of keys. */

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
  postOwn,
  write,
} from "./calls.ts";
import { DROP, type FieldRules, flag, id, isUnset, MODELS, refused } from "./translate.ts";

const ELSEWHERE = "Leave it out, or restrict the key by `models`, limits and guardrails.";

/** Groups of routes that every key of this gateway is limited to anyway. */
const HARMLESS_ROUTES: ReadonlySet<JsonValue> = new Set([
  "llm_api_routes",
  "openai_routes",
  "anthropic_routes",
  "info_routes",
]);

export const KEY_RULES: FieldRules = {
  models: MODELS,
  team_id: id("team_id"),
  user_id: id("user_id"),
  organization_id: id("organization_id"),
  budget_id: id("budget_id"),
  may_name_customers: flag("may_name_customers"),
  duration: { to: "duration", read: (value) => (value === "-1" || value === "" ? null : value) },
  aliases: { to: "model_aliases" },
  allowed_cache_controls: { refuse: ELSEWHERE },
  allowed_vector_store_indexes: { refuse: ELSEWHERE },
  denied_passthrough_routes: { refuse: ELSEWHERE },
  enforced_params: { refuse: ELSEWHERE },
  object_permission: { refuse: ELSEWHERE },
  budget_limits: { refuse: "Use `max_budget` with `budget_duration`, and `budget_id`." },
  tpd_limit: { refuse: "Use `tpm_limit`, or a budget with `budget_duration: 1d`." },
  allowed_model_region: { refuse: ELSEWHERE },
  project_id: { refuse: "Use a team." },
  agent_id: { refuse: "Use a user of the kind `service`." },
  prompts: { refuse: ELSEWHERE },
  policies: { refuse: "Use `guardrails`." },
  auto_rotate: DROP,
  rotation_interval: DROP,
  allowed_passthrough_routes: DROP,
  budget_fallbacks: DROP,
  budget_reset_at: DROP,
  config: DROP,
  enable_prompt_caching: DROP,
  key_name: DROP,
  permissions: DROP,
  router_settings: DROP,
  rpm_limit_type: DROP,
  send_invite_email: DROP,
  spend: DROP,
  temp_budget_expiry: DROP,
  temp_budget_increase: DROP,
  throttle_on_budget_exceeded: DROP,
  token: DROP,
  token_id: DROP,
  tpm_limit_type: DROP,
  user_email: DROP,
  user_name: DROP,
  user_role: DROP,
};

/** The view of a key, with LiteLLM's further members. */
export function keyView(record: JsonObject): JsonObject {
  return {
    spend: 0,
    config: {},
    permissions: {},
    model_max_budget: {},
    ...record,
    aliases: record.model_aliases ?? {},
    token: record.token_id ?? null,
    litellm_budget_table: null,
    updated_at: record.created_at ?? null,
  };
}

/** A body without `key_type` and `allowed_routes` where they allow no less than every key has. */
function plainRoutes({ key_type: type, allowed_routes: routes, ...body }: JsonObject): JsonObject {
  if (!isUnset(type) && type !== "default" && type !== "llm_api")
    throw refused("key_type", "Administration is a role of a user: docs/roles.md.");
  const list = Array.isArray(routes) ? (routes as readonly JsonValue[]) : [];
  if (!list.every((route) => HARMLESS_ROUTES.has(route)))
    throw refused("allowed_routes", ELSEWHERE);
  return body;
}

const GENERATE = { path: "/key/generate", rules: KEY_RULES, isNew: true, view: keyView };
const UPDATE = { path: "/key/update", rules: KEY_RULES, isNew: false, view: keyView };

function generate({ body }: ExtensionRequest, gateway: EdgeGateway): Promise<EdgeAnswer> {
  return write(gateway, plainRoutes(body), GENERATE);
}

async function generateForService(
  { body }: ExtensionRequest,
  gateway: EdgeGateway,
): Promise<EdgeAnswer> {
  if (isUnset(body.team_id)) throw missing("team_id", "the team of the service");
  const { service_account_id: service, metadata, user_id: _user, ...rest } = body;
  const notes = isObject(metadata) ? metadata : {};
  const given = service ?? notes.service_account_id ?? body.key_alias ?? "service";
  const marked = { ...rest, metadata: { ...notes, service_account_id: given } };
  return write(gateway, plainRoutes(marked), GENERATE);
}

async function update({ body }: ExtensionRequest, gateway: EdgeGateway): Promise<EdgeAnswer> {
  const { key, ...rest } = body;
  const named = key ?? (await idByAlias(body.key_alias, gateway));
  const { key_alias: alias, ...changes } = rest;
  // Without a key, the alias names the key and does not change.
  const given = isUnset(key)
    ? changes
    : alias === undefined
      ? rest
      : { ...changes, key_alias: alias };
  return write(gateway, plainRoutes({ ...given, key: named }), UPDATE);
}

/** The id of the key with an alias. */
async function idByAlias(alias: JsonValue | undefined, gateway: EdgeGateway): Promise<JsonValue> {
  if (typeof alias !== "string" || alias === "")
    throw missing("key", "a key, its id or `key_alias`");
  const answer = await get(gateway, "/key/info", { key_alias: alias });
  if (answer.status !== 200) throw unknownKey("key_alias");
  return objectIn(answer).key ?? null;
}

/** A new secret, then the changes that the body names. */
async function regenerate(request: ExtensionRequest, gateway: EdgeGateway): Promise<EdgeAnswer> {
  const { client, body } = request;
  const {
    key: named,
    grace_period: grace,
    new_key: chosen,
    new_master_key: master,
    ...rest
  } = body;
  const inPath = client.parameters["key"];
  const key = inPath === undefined ? named : decodeURIComponent(inPath);
  if (typeof key !== "string" || key === "") throw missing("key", "a key, or its id");
  if (!isUnset(chosen) || !isUnset(master))
    throw refused("new_key", "A new secret is made by the gateway.");
  const answer = await postOwn(gateway, "/key/regenerate", {
    key,
    ...(isUnset(grace) ? {} : { grace_period: grace ?? null }),
  });
  if (answer.status !== 200) return answer;
  const fresh = objectIn(answer);
  const changes = Object.fromEntries(Object.entries(rest).filter(([, value]) => !isUnset(value)));
  if (Object.keys(changes).length === 0) return mapped(answer, keyView);
  const changed = await write(
    gateway,
    plainRoutes({ ...changes, key: fresh.token_id ?? null }),
    UPDATE,
  );
  if (changed.status === 200)
    return mapped(changed, (view) => ({ ...view, key: fresh.key ?? null }));
  // The old secret is gone by now: the new one must reach the caller.
  const error = isObject(changed.body) ? (changed.body.error ?? null) : null;
  return mapped(answer, (view) => ({ ...keyView(view), update_error: error }));
}

async function info(request: ExtensionRequest, gateway: EdgeGateway): Promise<EdgeAnswer> {
  const answer = await getOwn(gateway, "/key/info", pick(request, "key", "key_alias"));
  return mapped(answer, ({ info: found, ...rest }) => ({
    ...rest,
    info: keyView(isObject(found) ? found : {}),
  }));
}

async function infos({ body }: ExtensionRequest, gateway: EdgeGateway): Promise<EdgeAnswer> {
  const keys = textsIn(body.keys);
  if (keys.length === 0) throw missing("keys", "an array of keys or their ids");
  const found: JsonObject[] = [];
  for (const key of keys) {
    // oxlint-disable-next-line no-await-in-loop -- a bounded list, one look-up after the other.
    const answer = await get(gateway, "/key/info", { key });
    const view = objectIn(answer).info;
    if (answer.status === 200 && isObject(view)) found.push(keyView(view));
    else if (answer.status !== 404) return answer;
  }
  return { status: 200, body: { key: keys, info: found } };
}

const LIST = ["page", "size", "user_id", "team_id", "organization_id", "key_alias"] as const;

/** The ids of keys, unless the query asks for objects. */
async function list(request: ExtensionRequest, gateway: EdgeGateway): Promise<EdgeAnswer> {
  const isFull = request.query.get("return_full_object") === "true";
  const answer = await get(gateway, "/key/list", {
    ...pick(request, ...LIST),
    return_full_object: String(isFull),
  });
  return mapped(answer, (body) =>
    isFull ? { ...body, keys: objectsIn(body.keys).map(keyView) } : body,
  );
}

async function aliases(request: ExtensionRequest, gateway: EdgeGateway): Promise<EdgeAnswer> {
  const answer = await get(gateway, "/key/list", {
    ...pick(request, "page", "team_id"),
    size: request.query.get("size") ?? "50",
    return_full_object: "true",
  });
  return mapped(answer, ({ keys, ...page }) => ({
    aliases: objectsIn(keys).flatMap(({ key_alias: alias }) => alias ?? []),
    ...page,
    size: objectsIn(keys).length,
  }));
}

async function updateMany({ body }: ExtensionRequest, gateway: EdgeGateway): Promise<EdgeAnswer> {
  const updates = objectsIn(body.keys);
  if (updates.length === 0 || updates.length > MAX_BULK)
    throw missing("keys", `an array of 1 to ${MAX_BULK} objects, each with its key`);
  const done: JsonObject[] = [];
  const failed: JsonObject[] = [];
  for (const one of updates) {
    // oxlint-disable-next-line no-await-in-loop -- one change after the other, as they are listed.
    const answer = await write(gateway, plainRoutes(one), UPDATE);
    const error = objectIn(answer).error;
    if (answer.status === 200) done.push({ key: one.key ?? null, key_info: answer.body });
    else failed.push({ key: one.key ?? null, key_info: null, failed_reason: error ?? null });
  }
  return {
    status: 200,
    body: { total_requested: updates.length, successful_updates: done, failed_updates: failed },
  };
}

const MAX_BULK = 500;

function textsIn(value: JsonValue | undefined): readonly string[] {
  const list = Array.isArray(value) ? (value as readonly JsonValue[]) : [];
  return list.filter((one): one is string => typeof one === "string").slice(0, MAX_BULK);
}

function missing(name: string, what: string): GatewayError {
  return new GatewayError("invalid_field", `The field ${name} is missing: ${what}.`, {
    param: name,
  });
}

function unknownKey(name: string): GatewayError {
  return new GatewayError("not_found", "No key has this alias.", { param: name });
}

/** The routes. Deleting and blocking have the gateway's own form. */
export const KEY_ROUTES: readonly AdminExtensionRoute[] = [
  adminRoute("POST /key/generate", "key", generate),
  adminRoute("POST /key/service-account/generate", "key.create", generateForService),
  adminRoute("POST /key/update", "key.update", update),
  adminRoute("POST /key/bulk_update", "key.update", updateMany),
  adminRoute("POST /key/regenerate", "key", regenerate),
  adminRoute("POST /key/{key}/regenerate", "key", regenerate),
  adminRoute("GET /key/info", "key", info),
  adminRoute("POST /v2/key/info", "key.read", infos),
  adminRoute("GET /key/list", "key.read", list),
  adminRoute("GET /key/aliases", "key.read", aliases),
  adminRoute("POST /key/health", "key", () => ({
    status: 200,
    body: { key: "healthy", logging_callbacks: null },
  })),
];

/** Routes of the gateway's own that have LiteLLM's form: for the public listener. */
export const PLAIN_KEY_ROUTES: readonly AdminExtensionRoute[] = [
  relayed("POST /key/delete", "key.delete"),
  relayed("POST /key/block", "key.block"),
  relayed("POST /key/unblock", "key.unblock"),
];

/** A route whose body and answer stay as they are. */
export function relayed(
  route: `POST /${string}`,
  access: Parameters<typeof adminRoute>[1],
): AdminExtensionRoute {
  const [, path = ""] = route.split(" ");
  return adminRoute(route, access, ({ body }, gateway) => post(gateway, path, body));
}
