/** Keys of another gateway. Each keeps its secret. */

import {
  EMPTY_KEY,
  isGatewayError,
  type JsonObject,
  type JsonValue,
  type KeyRecord,
} from "@sluice/contract";
import { importedDigest } from "../../../resources/stored-keys.ts";
import { issuerOf } from "../../access/may.ts";
import { invalid, requiredText } from "../fields.ts";
import { idOfSecret } from "../keys/key-id.ts";
import { declareTeam } from "../keys/routes.ts";
import { checkUser } from "../tenants/key-user.ts";
import { KEY_FIELDS, readRecordChanges } from "../record-fields.ts";
import { keyView } from "../record-view.ts";
import {
  added,
  IMPORT_FIELDS,
  type ImportParts,
  insert,
  missingOf,
  originOf,
  refused,
  type Result,
  unchanged,
} from "./parts.ts";

/** Makes one key. */
export async function takeKey(entry: JsonObject, parts: ImportParts): Promise<Result> {
  const { keyRing, clock, isDryRun, request } = parts;
  const others = ["sha256", "last4", ...IMPORT_FIELDS];
  const nowMs = clock.now();
  const { members, names } = readRecordChanges(entry, KEY_FIELDS, others, nowMs);
  const sha256 = requiredText(entry, "sha256", "the SHA-256 of the key");
  if (!/^[0-9a-f]{64}$/.test(sha256))
    throw invalid("sha256", "The field sha256 must be 64 lower-case hexadecimal digits.");
  const id = idOfSecret(keyRing, sha256);
  const record: KeyRecord = {
    ...EMPTY_KEY,
    ...members,
    id,
    digest: importedDigest(sha256),
    last4: readLast4(entry["last4"] ?? ""),
    issuedBy: issuerOf(request.principal),
    ...originOf(entry, nowMs),
  };
  const known = (await knownKey(record, sha256, parts)) ?? (await missingOf(entry, id, parts));
  if (known !== undefined) return known;
  const wrongUser = await userFault(record.userId, parts);
  if (wrongUser !== undefined) return refused(id, wrongUser);
  if (isDryRun) return added(id);
  await declareTeam(parts, record.teamId);
  const { organizationId, teamId } = record;
  const change = { kind: "key", id, place: { organizationId, teamId }, fields: names };
  const outcome = await insert(parts, { ...change, after: keyView(record) }, ({ keys }) =>
    keys.insert(record),
  );
  if (outcome === "added") return added(id);
  const now = await knownKey(record, sha256, parts);
  return now ?? refused(id, REASONS[outcome] ?? "another key has its value");
}

const REASONS: Readonly<Record<string, string>> = {
  "no-team": "its team does not exist",
  missing: "an organization or a budget that it names does not exist",
  border: "what it names belongs to another organization",
};

/** Why a key is not added; `undefined` when it can be. */
async function knownKey(
  { id, digest, alias }: KeyRecord,
  sha256: string,
  { keys, keyRing, declared }: ImportParts,
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
  return isTaken ? refused(id, "another key has its alias") : undefined;
}

/** Why the user of a key cannot be its user: another spelling of an id, or a deleted one. */
async function userFault(userId: string | null, parts: ImportParts): Promise<string | undefined> {
  try {
    await checkUser({ records: parts.tenants?.records }, userId);
    return undefined;
  } catch (error) {
    if (isGatewayError(error) && error.code === "invalid_field") return error.message;
    throw error;
  }
}

function readLast4(value: JsonValue): string {
  if (typeof value === "string" && /^[!-~]{0,4}$/.test(value)) return value;
  throw invalid("last4", "The field last4 must be the last four characters of the key.");
}
