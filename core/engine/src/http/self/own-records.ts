/** What a key reads about itself: its record, its team, its user. */

import {
  GatewayError,
  type Identity,
  type JsonObject,
  type KeyRecord,
  type UserRecord,
} from "@sluice/contract";
import { budgetView, keyBudgetView } from "../admin/budget-view.ts";
import { budgetDollars } from "../admin/dollars.ts";
import { refuseUnknown } from "../admin/fields.ts";
import { findKey, noKey } from "../admin/find-key.ts";
import { declaredView, keyView, teamView } from "../admin/record-view.ts";
import { type SelfParts, teamOf } from "./parts.ts";
import type { SelfRequest, SelfRoute } from "./request.ts";

const SHOWN_KEYS = 100;

/** `GET /key/info`, `/team/info` and `/user/info`. */
export function ownRecords(parts: SelfParts): Readonly<Record<string, SelfRoute>> {
  return {
    "/key/info": { GET: (request) => ownKey(request, parts) },
    "/team/info": { GET: (request) => ownTeam(request, parts) },
    "/user/info": { GET: (request) => ownUser(request, parts) },
  };
}

async function ownKey(request: SelfRequest, parts: SelfParts): Promise<JsonObject> {
  const { query, presented } = request;
  const { keyId } = virtual(request.identity);
  refuseUnknown(query.keys(), ["key"], "query parameter");
  const asked = query.get("key") ?? "";
  if (asked !== "" && asked !== keyId && asked !== presented) throw noKey("key");
  const found = await findKey(parts, keyId, "key");
  const limits = "record" in found ? found.record : (found.declared.limits ?? NO_BUDGET);
  const view = "record" in found ? keyView(found.record) : declaredView(found.declared);
  return { key: keyId, info: { ...view, ...(await keyBudgetView(limits, keyId, parts)) } };
}

const NO_BUDGET = { maxBudgetNanoUsd: null, budgetDuration: null };

async function ownTeam({ identity, query }: SelfRequest, parts: SelfParts): Promise<JsonObject> {
  const { teamId } = virtual(identity);
  refuseUnknown(query.keys(), ["team_id"], "query parameter");
  const team = isAsked(query, "team_id", teamId) ? await teamOf(parts, teamId) : undefined;
  if (team === undefined) throw none("The key has no such team.", "team_id");
  // The notes of the team are its administrators'.
  const { metadata: _notes, ...view } = teamView({ ...team, createdAtMs: 0 });
  const { id } = team;
  return {
    team_id: id,
    team_info: { ...view, created_at: null, ...(await budgetView(team, { teamId: id }, parts)) },
  };
}

async function ownUser({ identity, query }: SelfRequest, parts: SelfParts): Promise<JsonObject> {
  const { keyId, userId } = virtual(identity);
  refuseUnknown(query.keys(), ["user_id"], "query parameter");
  if (userId === undefined || !isAsked(query, "user_id", userId))
    throw none("The key has no such user.", "user_id");
  const user = await parts.tenants?.user.find({ id: userId });
  const place = placeShown(await parts.keys.find(keyId), userId);
  const { keys, total } = await parts.keys.list({ ...place, userId, offset: 0, limit: SHOWN_KEYS });
  return {
    user_id: userId,
    user_info: user === undefined ? null : await userView(user, parts),
    keys: keys.map(shortView),
    total_keys: total,
  };
}

/** A key that another user made shows the keys of its own place alone: its maker may hold it. */
function placeShown(
  key: KeyRecord | undefined,
  userId: string,
): { readonly teamId?: string; readonly organizationId?: string } {
  if (key === undefined || key.issuedBy === null || key.issuedBy === userId) return {};
  const { teamId, organizationId } = key;
  if (teamId !== null) return { teamId };
  return organizationId === null ? {} : { organizationId };
}

async function userView(user: UserRecord, parts: SelfParts): Promise<JsonObject> {
  return {
    user_alias: user.alias,
    user_email: user.email,
    kind: user.kind,
    organizations: user.organizations,
    models: user.models,
    max_budget: budgetDollars(user.maxBudgetNanoUsd),
    budget_duration: user.budgetDuration,
    rpm_limit: user.rpm,
    tpm_limit: user.tpm,
    max_parallel_requests: user.maxParallelRequests,
    blocked: user.blocked,
    ...(await budgetView(user, { userId: user.id }, parts)),
  };
}

/** Another key of the user: enough to recognise it. */
function shortView(record: KeyRecord): JsonObject {
  const { token_id, key_name, key_alias, team_id, expires, blocked } = keyView(record);
  return {
    token_id: token_id ?? null,
    key_name: key_name ?? null,
    key_alias: key_alias ?? null,
    team_id: team_id ?? null,
    expires: expires ?? null,
    blocked: blocked ?? false,
  };
}

/** The caller as a key. Throws `not_found` for the master key, which has no record. */
function virtual(identity: Identity): Identity {
  if (identity.kind === "key") return identity;
  throw none("The master key has no record. The admin listener shows all keys.", "key");
}

function isAsked(query: URLSearchParams, name: string, own: string | undefined): boolean {
  const asked = query.get(name) ?? "";
  return own !== undefined && (asked === "" || asked === own);
}

function none(message: string, param: string): GatewayError {
  return new GatewayError("not_found", message, { param });
}
