/** Admin routes for keys, with LiteLLM's names. */

import type {
  Clock,
  JsonObject,
  KeyChanges,
  KeyConflict,
  KeyRecord,
  Secret,
  TeamStore,
} from "@sluice/contract";
import { EMPTY_KEY, GatewayError } from "@sluice/contract";
import {
  type AdminRequest,
  type AdminRoutes,
  type Located,
  named,
  several,
} from "../../access/route.ts";
import { writeDeclaredTeam } from "../../../resources/declared-rows.ts";
import { type Changes, invalid, readNames, refuseUnknown, requiredText } from "../fields.ts";
import { findKey, type FoundKey, type KeyPlaces, noKey, ownKey } from "../find-key.ts";
import { checkUser } from "../tenants/key-user.ts";
import { keyLocated, locateKey, placesOf } from "../locate.ts";
import type { AuditChange } from "../../access/audit.ts";
import { issuerOf, type ObjectPlace } from "../../access/may.ts";
import { warningsOf, type WarningParts } from "../tenants/parents.ts";
import { readGivenKey } from "./given-key.ts";
import { idOfGiven, newKeyId } from "./key-id.ts";
import { KEY_FIELDS, readRecordChanges } from "../record-fields.ts";
import { keyView } from "../record-view.ts";
import { graceEnd, keyConflict, newKey } from "../secrets.ts";
import type { KeyDefaults } from "../../../config/snapshot.ts";

/** The parts of the routes. */
export interface KeyRouteParts extends KeyPlaces, WarningParts {
  readonly teams: TeamStore;
  readonly clock: Clock;
  /** Limits of new keys that name none of their own. */
  readonly defaults: () => KeyDefaults;
  /** The key of `server.admin.read_key`. */
  readonly readKey: () => Secret | undefined;
}

const WHICH = "a key, or its id (token_id)";
/** Keys that are read at once. */
const PAGE = 500;

/**
 * The routes that make and change keys. Each is one statement at the store and holds from the next
 * request on.
 */
export function keyRoutes(parts: KeyRouteParts): AdminRoutes {
  return { ...newSecrets(parts), ...keyChanges(parts) };
}

/** Routes whose answer shows a new key: the only time that the key itself is shown. */
function newSecrets(parts: KeyRouteParts): AdminRoutes {
  const locateRotated = (request: AdminRequest): Promise<Located<FoundKey>> => {
    refuseUnknown(Object.keys(request.body), ["key", "grace_period"], "field");
    graceEnd(request.body, parts.clock.now());
    return asked(parts)(request);
  };
  return {
    "POST /key/generate": named("key.create", locateNew(parts), (request, place) =>
      createKey(request, place, parts),
    ),
    "POST /key/regenerate": named("key.rotate", locateRotated, (request, found) =>
      rotateKey(request, found, parts),
    ),
  };
}

async function createKey(
  request: AdminRequest,
  place: ObjectPlace | undefined,
  parts: KeyRouteParts,
): Promise<JsonObject> {
  const { keyRing, clock } = parts;
  const { body, principal } = request;
  const nowMs = clock.now();
  const { members, names } = readRecordChanges(body, KEY_FIELDS, ["key"], nowMs);
  refuseDeclaredAlias(parts, members["alias"]);
  const { key: given = null } = body;
  const key = given === null ? newKey() : await readGivenKey(given, parts);
  const id = given === null ? newKeyId() : await idOfGiven(key, parts);
  const { userId = null, teamId = null, organizationId = null } = members as Partial<KeyRecord>;
  const limits = await request.grants.limits(principal, members, {
    userId,
    teamId,
    organizationId,
  });
  const record: KeyRecord = {
    ...EMPTY_KEY,
    ...defaultsBeside(parts.defaults(), limits as Changes["members"]),
    ...members,
    ...limits,
    digest: keyRing.digest(key),
    last4: key.slice(-4),
    id,
    issuedBy: issuerOf(principal),
    createdAtMs: nowMs,
  };
  await request.grants.key(principal, undefined, record);
  await checkUser(parts, members["userId"]);
  await declareTeam(parts, record.teamId);
  const fields = given === null ? names : ["key", ...names];
  const outcome = await request.audit.change(
    request,
    { kind: "key", id, place, after: keyView(record), fields },
    ({ keys }) => keys.insert(record),
  );
  if (outcome !== "added") throw keyConflict(outcome, members);
  keyRing.forget();
  return { key, ...keyView(record), ...(await warningsOf(record, record, parts)) };
}

async function rotateKey(
  request: AdminRequest,
  found: FoundKey,
  parts: KeyRouteParts,
): Promise<JsonObject> {
  const { keyRing, clock } = parts;
  const { body, principal } = request;
  const previousUntilMs = graceEnd(body, clock.now());
  const present = ownKey(found, "key");
  await request.grants.secret(principal, present);
  const key = newKey();
  const rotation = {
    digest: keyRing.digest(key),
    last4: key.slice(-4),
    previousUntilMs,
    issuedBy: issuerOf(principal),
  };
  const fields = body["grace_period"] === undefined ? ["key"] : ["key", "grace_period"];
  const rotated = await request.audit.change(
    request,
    { ...(await changeOf(parts, found)), after: { key }, fields },
    ({ keys }) => keys.rotate(present.id, rotation),
  );
  const record = accepted(rotated, {});
  keyRing.forget();
  return { key, ...keyView(record) };
}

/** The key that a body names. */
function asked(places: KeyRouteParts): (request: AdminRequest) => Promise<Located<FoundKey>> {
  return ({ body }) => locateKey(places, requiredText(body, "key", WHICH), "key");
}

/** The key that a body names, and its changes: a wrong field is refused before the look-up. */
function locateChanged(parts: KeyRouteParts) {
  const locate = asked(parts);
  return async (
    request: AdminRequest,
  ): Promise<Located<{ readonly found: FoundKey; readonly changes: Changes }>> => {
    const changes = readRecordChanges(request.body, KEY_FIELDS, ["key"], parts.clock.now());
    const located = await locate(request);
    return { ...located, found: { found: located.found, changes } };
  };
}

/** A key that does not exist yet: it is where its team is. */
function locateNew(parts: KeyRouteParts) {
  return async ({ body }: AdminRequest): Promise<Located<ObjectPlace | undefined>> => {
    const [teamId, organizationId, userId] = ["team_id", "organization_id", "user_id"].map((name) =>
      typeof body[name] === "string" ? body[name] : null,
    );
    const places = await placesOf(parts, { teamId, organizationId });
    return {
      object: { places, userId: userId ?? null },
      found: places[0],
      missing: () => keyConflict("no-team", { teamId }),
    };
  };
}

/** What the audit says about a key that is changed. */
async function changeOf(parts: KeyRouteParts, found: FoundKey): Promise<AuditChange> {
  const record = ownKey(found, "key");
  const [place] = await placesOf(parts, record);
  return { kind: "key", id: record.id, place };
}

/** Routes that change keys, or delete them. */
function keyChanges(parts: KeyRouteParts): AdminRoutes {
  const setBlocked = (action: "key.block" | "key.unblock") =>
    named(action, asked(parts), async (request, found) => {
      refuseUnknown(Object.keys(request.body), ["key"], "field");
      const blocked = action === "key.block";
      return changeKey(request, found, { members: { blocked }, names: ["blocked"] }, parts);
    });
  return {
    "POST /key/update": named("key.update", locateChanged(parts), (request, { found, changes }) =>
      changeKey(request, found, changes, parts),
    ),
    "POST /key/block": setBlocked("key.block"),
    "POST /key/unblock": setBlocked("key.unblock"),
    "POST /key/delete": several("key.delete", listedKeys(parts), (request, found) =>
      deleteKeys(request, found, parts),
    ),
  };
}

/** Changes a key of the store. Throws the refusal. */
export async function changeKey(
  request: AdminRequest,
  found: FoundKey,
  { members, names }: Changes,
  parts: KeyRouteParts,
): Promise<JsonObject> {
  const present = ownKey(found, "key");
  const { id } = present;
  refuseDeclaredAlias(parts, members["alias"]);
  await request.grants.key(request.principal, present, { ...present, ...members });
  // A key of a deleted user would have no limits of one.
  const isOpened = members["blocked"] === false && present.blocked;
  const { userId = isOpened ? present.userId : undefined } = members;
  await checkUser(parts, userId);
  await declareTeam(parts, (members as KeyChanges).teamId ?? null);
  const audited = {
    ...(await changeOf(parts, found)),
    before: keyView(present),
    after: keyView({ ...present, ...members }),
    fields: names,
  };
  const updated = await request.audit.change(request, audited, ({ keys }) =>
    keys.update(id, members as KeyChanges),
  );
  const record = accepted(updated, members);
  parts.keyRing.forget();
  return { key: id, ...keyView(record) };
}

/** Deletes keys of the store. Throws the refusal, and `not_found` when none existed. */
export async function deleteKeys(
  request: AdminRequest,
  found: readonly FoundKey[],
  parts: KeyRouteParts,
): Promise<JsonObject> {
  const param = Object.keys(request.body)[0] ?? "keys";
  const records = found.map((one) => ownKey(one, param));
  const deleted: string[] = [];
  for (const record of await withMade(records, parts)) {
    const audited = { ...(await changeOf(parts, { record })), before: keyView(record) };
    const isDeleted = await request.audit.change(request, audited, ({ keys }) =>
      keys.delete(record.id),
    );
    if (!isDeleted) continue;
    parts.keyRing.forget();
    deleted.push(record.id);
  }
  if (deleted.length > 0) return { deleted_keys: deleted };
  throw new GatewayError("not_found", "None of the keys exists. GET /key/list lists the keys.", {
    param,
  });
}

/** Keys, each after those that were made with it: they end with it. */
async function withMade(
  records: readonly KeyRecord[],
  { keys }: KeyRouteParts,
): Promise<readonly KeyRecord[]> {
  const all = new Map<string, KeyRecord>();
  for (const record of records) {
    for (let offset = 0, total = 1; offset < total; offset += PAGE) {
      const page = await keys.list({ madeWith: record.id, offset, limit: PAGE });
      for (const made of page.keys) all.set(made.id, made);
      total = page.total;
    }
    all.set(record.id, record);
  }
  return [...all.values()];
}

/** Writes the row of a declared team, to which a key of the store is about to belong. */
export async function declareTeam(
  { declaredTeams, teams, clock }: Pick<KeyRouteParts, "declaredTeams" | "teams" | "clock">,
  teamId: string | null,
): Promise<void> {
  const team = declaredTeams().find(({ id }) => id === teamId);
  if (team !== undefined) await writeDeclaredTeam(team, teams, clock.now());
}

/**
 * The keys to delete. All are looked up before the first is deleted; those that do not exist are
 * left out.
 */
function listedKeys(parts: KeyRouteParts) {
  return async ({ body }: AdminRequest): Promise<readonly Located<FoundKey>[]> => {
    refuseUnknown(Object.keys(body), ["keys", "key_aliases"], "field");
    const { keys: ids = null, key_aliases: aliases = null } = body;
    if (ids === null && aliases === null)
      throw invalid("keys", "The field keys is missing: an array of keys or their ids.");
    const found: Located<FoundKey>[] = [];
    for (const key of ids === null ? [] : readNames(ids, "keys")) {
      const one = await locateKey(parts, key, "keys").catch(unlessMissing);
      if (one !== undefined) found.push(one);
    }
    for (const alias of aliases === null ? [] : readNames(aliases, "key_aliases")) {
      const one = await locateAlias(parts, alias);
      if (one !== undefined) found.push(one);
    }
    return found;
  };
}

async function locateAlias(
  places: KeyRouteParts,
  alias: string,
): Promise<Located<FoundKey> | undefined> {
  const missing = (): GatewayError => noKey("key_aliases");
  if (isDeclaredAlias(places, alias))
    return keyLocated(places, await findKey(places, `yaml:${alias}`, "key_aliases"), missing);
  const [record] = (await places.keys.list({ alias, offset: 0, limit: 1 })).keys;
  return record === undefined ? undefined : keyLocated(places, { record }, missing);
}

/** `undefined` for a key that does not exist. Throws every other error. */
export function unlessMissing(error: unknown): undefined {
  if (error instanceof GatewayError && error.code === "not_found") return undefined;
  throw error;
}

function refuseDeclaredAlias(parts: KeyPlaces, alias: unknown): void {
  if (typeof alias === "string" && isDeclaredAlias(parts, alias))
    throw keyConflict("taken", { alias });
}

function isDeclaredAlias({ declared }: KeyPlaces, alias: string): boolean {
  return declared().some((key) => key.alias === alias);
}

/**
 * The record that a write returned. Throws for every other outcome, such as a concurrent delete.
 */
function accepted(
  outcome: KeyRecord | KeyConflict | undefined,
  members: Changes["members"],
): KeyRecord {
  if (outcome === undefined)
    throw new GatewayError(
      "not_found",
      "The key does not exist any more. GET /key/list lists the keys.",
      { param: "key" },
    );
  if (typeof outcome === "string") throw keyConflict(outcome, members);
  return outcome;
}

/**
 * The defaults beside what a request names. A budget that it names has the period that it names, or
 * none.
 */
function defaultsBeside(defaults: KeyDefaults, named: Changes["members"]): KeyDefaults {
  if (named["maxBudgetNanoUsd"] === undefined) return defaults;
  const { budgetDuration: _period, ...others } = defaults;
  return others;
}
