/** LiteLLM's routes of access groups, in both of its forms. */

import {
  type EdgeAnswer,
  type EdgeGateway,
  type ExtensionRequest,
  GatewayError,
  type JsonObject,
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
import { everyRecord, isRecords, recordOf, textsIn } from "./records.ts";
import { isUnset, refused } from "./translate.ts";

function groupView({ access_group: name, models }: JsonObject): JsonObject {
  const list = textsIn(models);
  return {
    access_group: name ?? null,
    model_names: list,
    models: list,
    deployment_count: list.length,
  };
}

function groupChange(path: "/access_group/new" | "/access_group/update") {
  return async ({ client, body }: ExtensionRequest, gateway: EdgeGateway): Promise<EdgeAnswer> => {
    const inPath = client.parameters["group"];
    const name = inPath === undefined ? body.access_group : decodeURIComponent(inPath);
    const models = textsIn(body.model_names ?? body.models);
    const answer = await post(gateway, path, { access_group: name ?? null, models });
    return mapped(answer, (group) => ({ ...groupView(group), models_updated: models.length }));
  };
}

async function groupInfo({ client }: ExtensionRequest, gateway: EdgeGateway): Promise<EdgeAnswer> {
  const name = decodeURIComponent(client.parameters["group"] ?? "");
  const found = await recordOf(gateway, "access_group", { access_group: name });
  return "failed" in found ? found.failed : { status: 200, body: groupView(found.record) };
}

async function groups(_request: ExtensionRequest, gateway: EdgeGateway): Promise<EdgeAnswer> {
  const all = await everyRecord(gateway, "/access_group/list", "access_groups");
  return isRecords(all) ? { status: 200, body: { access_groups: all.map(groupView) } } : all;
}

async function removeGroup(
  { client }: ExtensionRequest,
  gateway: EdgeGateway,
): Promise<EdgeAnswer> {
  const name = decodeURIComponent(client.parameters["group"] ?? "");
  const answer = await post(gateway, "/access_group/delete", { access_groups: [name] });
  return mapped(answer, () => ({ access_group: name, message: "The access group is deleted." }));
}

/** Teams and keys that name a group in their models. */
interface Assigned {
  readonly teams: readonly JsonObject[];
  readonly keys: readonly JsonObject[];
}

const MAX_KEY_PAGES = 20;

async function assignedOf(name: string, gateway: EdgeGateway): Promise<Assigned> {
  const teams = await everyRecord(gateway, "/team/list", "teams");
  const keys: JsonObject[] = [];
  for (let page = 1; page <= MAX_KEY_PAGES; page += 1) {
    // oxlint-disable-next-line no-await-in-loop -- pages come one after the other.
    const answer = await get(gateway, "/key/list", {
      page: String(page),
      size: "100",
      return_full_object: "true",
    });
    const { keys: found, total_pages: pages } = objectIn(answer);
    keys.push(...objectsIn(found));
    if (answer.status !== 200 || typeof pages !== "number" || page >= pages) break;
  }
  const names = ({ models }: JsonObject): boolean => textsIn(models).includes(name);
  return { teams: (isRecords(teams) ? teams : []).filter(names), keys: keys.filter(names) };
}

/** The newer form: a group with the teams and keys that it is assigned to. */
function unifiedView(record: JsonObject, { teams, keys }: Assigned): JsonObject {
  const name = record.access_group ?? null;
  return {
    access_group_id: name,
    access_group_name: name,
    access_model_names: textsIn(record.models),
    access_mcp_server_ids: [],
    access_agent_ids: [],
    assigned_team_ids: teams.map(({ team_id: id }) => id ?? null),
    assigned_key_ids: keys.map(({ token_id: id }) => id ?? null),
    description: null,
    created_at: record.created_at ?? null,
    updated_at: record.created_at ?? null,
  };
}

async function unified(name: string, gateway: EdgeGateway, status = 200): Promise<EdgeAnswer> {
  const found = await recordOf(gateway, "access_group", { access_group: name });
  if ("failed" in found) return found.failed;
  return { status, body: unifiedView(found.record, await assignedOf(name, gateway)) };
}

function checkKinds(body: JsonObject): void {
  for (const name of ["access_mcp_server_ids", "access_agent_ids"])
    if (!isUnset(body[name])) throw refused(name, "Groups of this gateway have models alone.");
}

async function makeUnified({ body }: ExtensionRequest, gateway: EdgeGateway): Promise<EdgeAnswer> {
  checkKinds(body);
  const name = String(body.access_group_name ?? "");
  const models = textsIn(body.access_model_names);
  const answer = await post(gateway, "/access_group/new", { access_group: name, models });
  if (answer.status >= 300) return answer;
  return (await assign(name, body, gateway)) ?? unified(name, gateway, 201);
}

async function changeUnified(
  { client, body }: ExtensionRequest,
  gateway: EdgeGateway,
): Promise<EdgeAnswer> {
  checkKinds(body);
  const name = nameIn(client.parameters["id"]);
  if (body.access_group_name !== undefined && body.access_group_name !== name)
    throw new GatewayError("invalid_field", "The name of a group is its id, and stays.", {
      param: "access_group_name",
    });
  if (body.access_model_names !== undefined) {
    const models = textsIn(body.access_model_names);
    const answer = await post(gateway, "/access_group/update", { access_group: name, models });
    if (answer.status >= 300) return answer;
  }
  return (await assign(name, body, gateway)) ?? unified(name, gateway);
}

/** Puts the group into the lists of models, or takes it out. Returns the answer of a failure. */
async function assign(
  name: string,
  body: JsonObject,
  gateway: EdgeGateway,
): Promise<EdgeAnswer | undefined> {
  if (body.assigned_team_ids === undefined && body.assigned_key_ids === undefined) return undefined;
  const { teams, keys } = await assignedOf(name, gateway);
  for (const [kind, wanted, present] of [
    ["team", body.assigned_team_ids, teams.map(({ team_id: id }) => String(id))],
    ["key", body.assigned_key_ids, keys.map(({ token_id: id }) => String(id))],
  ] as const) {
    if (wanted === undefined) continue;
    const ids = textsIn(wanted);
    for (const id of new Set([...ids, ...present])) {
      if (ids.includes(id) === present.includes(id)) continue;
      // oxlint-disable-next-line no-await-in-loop -- one record after the other.
      const failed = await setNamed(kind, id, name, ids.includes(id), gateway);
      if (failed !== undefined) return failed;
    }
  }
  return undefined;
}

/** An empty list allows every model: it stays, and the last name of a list cannot be taken. */
async function setNamed(
  kind: "team" | "key",
  id: string,
  name: string,
  isNamed: boolean,
  gateway: EdgeGateway,
): Promise<EdgeAnswer | undefined> {
  const field = kind === "team" ? "team_id" : "key";
  const found = await get(gateway, `/${kind}/info`, { [field]: id });
  if (found.status !== 200) return found;
  const { team_info: team, info: key } = objectIn(found);
  const [record] = objectsIn([team ?? null, key ?? null]);
  const before = textsIn(record?.models);
  if (before.length === 0) return undefined;
  const models = isNamed ? [...before, name] : before.filter((one) => one !== name);
  if (models.length === 0)
    throw new GatewayError(
      "invalid_field",
      `The ${kind} ${id} would have no model of its list left, which would allow all models.`,
      { param: `assigned_${kind}_ids` },
    );
  const answer = await post(gateway, `/${kind}/update`, { [field]: id, models });
  return answer.status < 300 ? undefined : answer;
}

async function listUnified(_request: ExtensionRequest, gateway: EdgeGateway): Promise<EdgeAnswer> {
  const all = await everyRecord(gateway, "/access_group/list", "access_groups");
  if (!isRecords(all)) return all;
  const views: JsonObject[] = [];
  for (const record of all) {
    // oxlint-disable-next-line no-await-in-loop -- one group after the other.
    const assigned = await assignedOf(String(record.access_group), gateway);
    views.push(unifiedView(record, assigned));
  }
  return { status: 200, body: views };
}

async function removeUnified(
  { client }: ExtensionRequest,
  gateway: EdgeGateway,
): Promise<EdgeAnswer> {
  const name = nameIn(client.parameters["id"]);
  const failed = await assign(name, { assigned_team_ids: [], assigned_key_ids: [] }, gateway);
  if (failed !== undefined) return failed;
  const answer = await post(gateway, "/access_group/delete", { access_groups: [name] });
  return mapped(answer, () => ({ access_group_id: name, message: "The access group is deleted." }));
}

function nameIn(parameter: string | undefined): string {
  return decodeURIComponent(parameter ?? "");
}

/** The routes. */
export const ACCESS_GROUP_ROUTES: readonly AdminExtensionRoute[] = [
  adminRoute("POST /access_group/new", "access_group.write", groupChange("/access_group/new")),
  adminRoute(
    "PUT /access_group/{group}/update",
    "access_group.write",
    groupChange("/access_group/update"),
  ),
  adminRoute("GET /access_group/{group}/info", "access_group.read", groupInfo),
  adminRoute("GET /access_group/list", "access_group.read", groups),
  adminRoute("DELETE /access_group/{group}/delete", "access_group.write", removeGroup),
  ...["/v1/access_group", "/v1/unified_access_group"].flatMap((path) => [
    adminRoute(`POST ${path}` as "POST /", "access_group.write", makeUnified),
    adminRoute(`GET ${path}` as "GET /", "access_group.read", listUnified),
    adminRoute(`GET ${path}/{id}` as "GET /", "access_group.read", ({ client }, gateway) =>
      unified(nameIn(client.parameters["id"]), gateway),
    ),
    adminRoute(`PUT ${path}/{id}` as "PUT /", "access_group.write", changeUnified),
    adminRoute(`DELETE ${path}/{id}` as "DELETE /", "access_group.write", removeUnified),
  ]),
];
