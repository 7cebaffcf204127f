/**
 * Keys that a user makes, and the rotation of the calling key. A key that is made with another one
 * is at most that key: its limits, guardrails, tags, customer, team and end hold for the new one.
 * What both use counts in the limits of the calling key, so no number of keys raises them.
 */

import {
  EMPTY_KEY,
  GatewayError,
  type JsonObject,
  type KeyRecord,
  type SelfService as Rule,
} from "@sluice/contract";
import type { Bound } from "../access/bounds.ts";
import { limitsWithin } from "../access/limits-within.ts";
import { newKeyId } from "../admin/keys/key-id.ts";
import { type Fields, invalid, refuseUnknown } from "../admin/fields.ts";
import { KEY_FIELDS, readRecordChanges } from "../admin/record-fields.ts";
import { keyView } from "../admin/record-view.ts";
import { graceEnd, keyConflict, newKey } from "../admin/secrets.ts";
import { placesOf } from "../admin/locate.ts";
import { type SelfParts, teamOf } from "./parts.ts";
import { callingKey, type SelfRequest, type SelfRoute } from "./request.ts";

/** Fields that a user may set. The others are those of the calling key. */
const OWN: readonly string[] = [
  "key_alias",
  "models",
  "max_budget",
  "soft_budget",
  "budget_duration",
  "rpm",
  "rpm_limit",
  "tpm",
  "tpm_limit",
  "max_parallel_requests",
  "max_parallel",
  "duration",
  "expires",
  "guardrails",
  "model_aliases",
];
const OWN_FIELDS: Fields = Object.fromEntries(
  Object.entries(KEY_FIELDS).filter(([name]) => OWN.includes(name)),
);

/** `POST /key/generate` and `/key/regenerate`. */
export function ownSecrets(parts: SelfParts): Readonly<Record<string, SelfRoute>> {
  return {
    "/key/generate": { POST: (request) => generate(request, parts) },
    "/key/regenerate": { POST: (request) => regenerate(request, parts) },
  };
}

async function generate(request: SelfRequest, parts: SelfParts): Promise<JsonObject> {
  const { keyRing, clock, audit } = parts;
  const calling = await callingKey(request, parts);
  const { userId } = calling;
  if (calling.madeWith !== null)
    throw refused(
      "This key was made with another key of yours. Make further keys with that one: limits hold for it and its keys together.",
    );
  const user = userId === null ? undefined : await parts.tenants?.user.find({ id: userId });
  if (userId === null || user === undefined || user.blocked)
    throw refused("Only the key of a user makes keys: this key has none, or one without a record.");
  const found = await rulesOf(calling, parts);
  const rules = [found.ofTeam, found.ofOrganization?.rule].flatMap((rule) => rule ?? []);
  const nowMs = clock.now();
  refuseOthers(request.body, calling);
  const { members, names } = readRecordChanges(
    request.body,
    OWN_FIELDS,
    ["user_id", "team_id"],
    nowMs,
  );
  const key = newKey();
  const bounds = [calling, ...rules.map(({ upperBounds }) => upperBounds)];
  const defaults = [...rules.map((rule) => rule.defaults), parts.defaults()];
  const record = derived(calling, limitsWithin(members, bounds, defaults), members, {
    id: newKeyId(),
    digest: keyRing.digest(key),
    last4: key.slice(-4),
    issuedBy: calling.issuedBy ?? userId,
    madeWith: calling.id,
    createdAtMs: nowMs,
  });
  await refuseTooMany(calling, found, parts, 0);
  const [place] = await placesOf(parts, record);
  const change = { kind: "key", id: record.id, place, after: keyView(record), fields: names };
  const asker = { ...request.asker, action: "key.create" } as const;
  const outcome = await audit.change(asker, change, (store) => store.keys.insert(record));
  if (outcome !== "added") throw keyConflict(outcome, members);
  // Another request may have made one meanwhile: none stays that is one too many.
  try {
    await refuseTooMany(calling, found, parts, 1);
  } catch (error) {
    const undone = { kind: "key", id: record.id, place, before: keyView(record) };
    const undoing = { ...request.asker, action: "key.delete" } as const;
    await audit.change(undoing, undone, (store) => store.keys.delete(record.id));
    throw error;
  }
  return { key, ...keyView(record) };
}

async function regenerate(request: SelfRequest, parts: SelfParts): Promise<JsonObject> {
  const { keyRing, clock, audit } = parts;
  const { body, presented } = request;
  refuseUnknown(Object.keys(body), ["key", "grace_period"], "field");
  const previousUntilMs = graceEnd(body, clock.now());
  const calling = await callingKey(request, parts);
  await rulesOf(calling, parts);
  const { key: asked = null } = body;
  if (asked !== null && asked !== calling.id && asked !== presented)
    throw invalid("key", "A key rotates itself alone: leave the field key out.");
  const key = newKey();
  const rotation = { digest: keyRing.digest(key), last4: key.slice(-4), previousUntilMs };
  const [place] = await placesOf(parts, calling);
  const change = { kind: "key", id: calling.id, place, after: { key }, fields: ["key"] };
  const rotated = await audit.change(
    { ...request.asker, action: "key.rotate" },
    change,
    ({ keys }) => keys.rotate(calling.id, rotation),
  );
  if (rotated === undefined)
    throw new GatewayError("not_found", "The key does not exist any more.", { param: "key" });
  keyRing.forget();
  return { key, ...keyView(rotated) };
}

/** The rules that hold for a key: those of its team and of its organization. */
interface Rules {
  readonly ofTeam: Rule | undefined;
  readonly ofOrganization: { readonly id: string; readonly rule: Rule | undefined } | undefined;
}

/** The rules of the team and of the organization. Throws `permission_denied` without any. */
async function rulesOf(calling: KeyRecord, parts: SelfParts): Promise<Rules> {
  const team = await teamOf(parts, calling.teamId);
  const id = calling.teamId === null ? calling.organizationId : team?.organizationId;
  const organization = id == null ? undefined : await parts.tenants?.organization.find({ id });
  const ofTeam = team?.selfService ?? undefined;
  const rule = organization?.selfService ?? undefined;
  if (ofTeam === undefined && rule === undefined)
    throw refused(
      "The team and the organization of this key have no self_service: ask an administrator for a key.",
    );
  return { ofTeam, ofOrganization: id == null ? undefined : { id, rule } };
}

/** The owner and the place are the caller's. */
function refuseOthers(body: JsonObject, { userId, teamId }: KeyRecord): void {
  for (const [name, own] of [
    ["user_id", userId],
    ["team_id", teamId],
  ] as const)
    if (body[name] !== undefined && body[name] !== own)
      throw new GatewayError("permission_denied", `The field ${name} must be that of this key.`, {
        param: name,
      });
}

/** The new key: what it may not choose is the calling key's. */
function derived(
  calling: KeyRecord,
  limits: Bound,
  named: Readonly<Record<string, unknown>>,
  made: Pick<KeyRecord, "id" | "digest" | "last4" | "issuedBy" | "madeWith" | "createdAtMs">,
): KeyRecord {
  const { alias = null, guardrails = [], softBudgetNanoUsd = null } = named as Partial<KeyRecord>;
  const { modelAliases = calling.modelAliases } = named as Partial<KeyRecord>;
  const { userId, teamId, organizationId, customerId, mayNameCustomers } = calling;
  const { tags, perModel, budgetAnchor, budgetId, budgetShare } = calling;
  return {
    ...EMPTY_KEY,
    ...limits,
    alias,
    softBudgetNanoUsd,
    tags,
    perModel,
    budgetAnchor,
    budgetId,
    budgetShare,
    userId,
    teamId,
    organizationId,
    customerId,
    mayNameCustomers,
    modelAliases,
    guardrails: [...new Set([...calling.guardrails, ...guardrails])],
    ...made,
  };
}

/**
 * The rules that bound how many keys a user has, each with the keys that it counts: those of the
 * user in the team, or in the whole organization.
 */
async function refuseTooMany(
  { userId, teamId }: KeyRecord,
  { ofTeam, ofOrganization }: Rules,
  { keys }: SelfParts,
  made: 0 | 1,
): Promise<void> {
  const counted = [
    [ofTeam?.maxKeys, "this team", teamId === null ? undefined : { teamId }],
    [
      ofOrganization?.rule?.maxKeys,
      "this organization",
      ofOrganization && { organizationId: ofOrganization.id },
    ],
  ] as const;
  for (const [maxKeys, where, place] of counted) {
    if (maxKeys === undefined || place === undefined) continue;
    const { total } = await keys.list({ userId: userId ?? "", ...place, offset: 0, limit: 1 });
    if (total + 1 - made > maxKeys)
      throw refused(
        `You have ${maxKeys} keys in ${where}, which is the maximum. Delete one first.`,
      );
  }
}

function refused(message: string): GatewayError {
  return new GatewayError("permission_denied", message);
}
