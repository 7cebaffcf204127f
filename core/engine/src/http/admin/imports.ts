/** Admin routes that take keys and teams of another gateway. */

import {
  EMPTY_KEY,
  EMPTY_TEAM,
  type GatewayError,
  isGatewayError,
  type JsonObject,
  type JsonValue,
  type KeyRecord,
  type TeamRecord,
} from "@sluice/contract";
import { isObject } from "@sluice/kit";
import { importedDigest } from "../../resources/stored-keys.ts";
import { type AdminRequest, type AdminRoutes, atWhole } from "../access/route.ts";
import {
  invalid,
  readDollars,
  readFlag,
  readNames,
  readText,
  refuseUnknown,
  requiredText,
} from "./fields.ts";
import { declareTeam, type KeyRouteParts } from "./keys.ts";
import { KEY_FIELDS, readRecordChanges, TEAM_FIELDS } from "./record-fields.ts";
import { keyView, teamView } from "./record-view.ts";

/** Entries of one request. */
const MAX_ENTRIES = 200;

/** What became of one entry. */
interface Result {
  readonly outcome: "added" | "unchanged" | "refused";
  readonly id: string | null;
  /** Why it was not added; null where it was. */
  readonly reason: string | null;
}

interface Parts extends KeyRouteParts {
  readonly request: AdminRequest;
  readonly isDryRun: boolean;
  /** Teams that a dry run takes as added. */
  readonly expectedTeams: readonly string[];
}

type TakeEntry = (entry: JsonObject, parts: Parts) => Promise<Result>;

/** The routes. Each entry is added whole or not at all; a repeated request changes nothing. */
export function importRoutes(parts: KeyRouteParts): AdminRoutes {
  return {
    "POST /team/import": atWhole("team.import", (request) =>
      takeAll(request, "teams", takeTeam, parts),
    ),
    "POST /key/import": atWhole("key.import", (request) =>
      takeAll(request, "keys", takeKey, parts),
    ),
  };
}

async function takeAll(
  request: AdminRequest,
  name: "keys" | "teams",
  take: TakeEntry,
  parts: KeyRouteParts,
): Promise<JsonObject> {
  const { body } = request;
  const known = name === "keys" ? [name, "dry_run", "expected_teams"] : [name, "dry_run"];
  refuseUnknown(Object.keys(body), known, "field");
  const isDryRun = readFlag(body["dry_run"] ?? false, "dry_run");
  const expectedTeams = isDryRun ? readNames(body["expected_teams"] ?? [], "expected_teams") : [];
  const how: Parts = { ...parts, request, isDryRun, expectedTeams };
  const entries = body[name];
  if (!Array.isArray(entries) || entries.length > MAX_ENTRIES)
    throw invalid(name, `The field ${name} must be an array of at most ${MAX_ENTRIES} objects.`);
  const results: JsonObject[] = [];
  try {
    for (const entry of entries as readonly JsonValue[])
      results.push({ ...(await resultOf(entry, take, how)) });
  } finally {
    if (!isDryRun) parts.keyRing.forget();
  }
  return { results };
}

/** A refused field refuses its entry alone. Throws what is no fault of the entry. */
async function resultOf(entry: JsonValue, take: TakeEntry, parts: Parts): Promise<Result> {
  try {
    if (!isObject(entry)) throw invalid("entry", "The entry must be an object.");
    return await take(entry, parts);
  } catch (error) {
    if (!isGatewayError(error) || error.code !== "invalid_field") throw error;
    return refused(null, error.message);
  }
}

/** Beside the fields of a record. */
const IMPORT_FIELDS = ["spend", "spend_at", "created_at"];

async function takeTeam(entry: JsonObject, parts: Parts): Promise<Result> {
  const { teams, declaredTeams, clock, request, isDryRun } = parts;
  const nowMs = clock.now();
  const { members, names } = readRecordChanges(
    entry,
    TEAM_FIELDS,
    ["team_id", ...IMPORT_FIELDS],
    nowMs,
  );
  const id = readText(requiredText(entry, "team_id", "the id of a team"), "team_id");
  if (declaredTeams().some((team) => team.id === id))
    return unchanged(id, "the configuration declares it");
  if ((await teams.find(id)) !== undefined) return unchanged(id, "it exists");
  const record: TeamRecord = { ...EMPTY_TEAM, ...members, id, ...originOf(entry, nowMs) };
  if (isDryRun) return added(id);
  const outcome = await request.audit.change(
    request,
    { kind: "team", id, after: teamView(record), fields: names },
    (store) => store.teams.insert(record),
  );
  if (outcome === "alias")
    return refused(id, `another team has the alias ${JSON.stringify(record.alias)}`);
  if (outcome !== "added") return unchanged(id, "it exists, or a team with a similar id did");
  return added(id);
}

async function takeKey(entry: JsonObject, parts: Parts): Promise<Result> {
  const { keyRing, clock, request, isDryRun } = parts;
  const others = ["sha256", "last4", ...IMPORT_FIELDS];
  const nowMs = clock.now();
  const { members, names } = readRecordChanges(entry, KEY_FIELDS, others, nowMs);
  const sha256 = requiredText(entry, "sha256", "the SHA-256 of the key");
  if (!/^[0-9a-f]{64}$/.test(sha256))
    throw invalid("sha256", "The field sha256 must be 64 lower-case hexadecimal digits.");
  const id = importedId(parts, sha256);
  const record: KeyRecord = {
    ...EMPTY_KEY,
    ...members,
    id,
    digest: importedDigest(sha256),
    last4: readLast4(entry["last4"] ?? ""),
    ...originOf(entry, nowMs),
  };
  const known = await knownKey(record, sha256, parts);
  if (known !== undefined) return known;
  if (isDryRun) return added(id);
  await declareTeam(parts, record.teamId);
  const outcome = await request.audit.change(
    request,
    { kind: "key", id, after: keyView(record), fields: names },
    ({ keys }) => keys.insert(record),
  );
  if (outcome !== "added")
    return (await knownKey(record, sha256, parts)) ?? refused(id, "another key has its value");
  keyRing.forget();
  return added(id);
}

/** Why a key is not added; `undefined` when it can be. */
async function knownKey(
  { id, digest, alias, teamId }: KeyRecord,
  sha256: string,
  { keys, keyRing, teams, declared, declaredTeams, expectedTeams }: Parts,
): Promise<Result | undefined> {
  if (keys.replaceDigest === undefined)
    return refused(id, "the store of this gateway cannot hold keys by their SHA-256");
  const present = (await keys.find(id)) ?? (await keys.findByDigest(digest));
  if (present !== undefined) return unchanged(present.id, "it exists");
  if ((await keys.wasImported?.(id)) === true)
    return unchanged(id, "it was imported before and deleted since");
  const fingerprint = Buffer.from(sha256, "hex").toString("base64url");
  if (keyRing.isMaster(fingerprint)) return refused(id, "it is a master key of this gateway");
  if (declared().some(({ key }) => keyRing.fingerprint(key.reveal()) === fingerprint))
    return unchanged(id, "the configuration declares it");
  const isTaken =
    alias !== null &&
    (declared().some((key) => key.alias === alias) ||
      (await keys.list({ alias, offset: 0, limit: 1 })).total > 0);
  if (isTaken) return refused(id, `another key has the alias ${JSON.stringify(alias)}`);
  if (teamId === null || expectedTeams.includes(teamId)) return undefined;
  if (declaredTeams().some((team) => team.id === teamId)) return undefined;
  if ((await teams.find(teamId)) !== undefined) return undefined;
  return refused(id, `its team ${JSON.stringify(teamId)} does not exist`);
}

/**
 * The id of an imported key: the same at every import into this installation. It is made with the
 * pepper, so that it reveals nothing about a key that can be guessed.
 */
function importedId({ keyRing }: Parts, sha256: string): string {
  const digest = Buffer.from(keyRing.digest(`import:${sha256}`), "hex");
  return `key_${digest.toString("base64url").slice(0, 12)}`;
}

/** When it was made, and what it had spent. */
function originOf(
  entry: JsonObject,
  nowMs: number,
): Pick<KeyRecord, "createdAtMs" | "importedSpend"> {
  const createdAtMs = readPast(entry["created_at"] ?? null, "created_at") ?? nowMs;
  const spend = readDollars(entry["spend"] ?? 0, "spend");
  if (spend === 0) return { createdAtMs };
  const atMs = readPast(entry["spend_at"] ?? null, "spend_at") ?? nowMs;
  return { createdAtMs, importedSpend: { nanoUsd: spend, atMs } };
}

function readPast(value: JsonValue, name: string): number | undefined {
  if (value === null) return undefined;
  const timeMs = typeof value === "string" ? Date.parse(value) : Number.NaN;
  if (!Number.isNaN(timeMs)) return timeMs;
  throw invalid(name, `The field ${name} must be a time, such as 2026-01-31T12:00:00Z.`);
}

function readLast4(value: JsonValue): string {
  if (typeof value === "string" && /^[!-~]{0,4}$/.test(value)) return value;
  throw invalid("last4", "The field last4 must be the last four characters of the key.");
}

function added(id: string): Result {
  return { outcome: "added", id, reason: null };
}

function unchanged(id: string, reason: string): Result {
  return { outcome: "unchanged", id, reason };
}

function refused(id: string | null, reason: GatewayError["message"]): Result {
  return { outcome: "refused", id, reason };
}
