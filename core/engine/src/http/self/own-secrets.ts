/**
 * Keys that a user makes, and the rotation of the calling key. A key that is made with another one
 * is at most that key: its limits, guardrails, tags, customer, team and end hold for the new one.
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
import { newKeyId } from "../admin/key-id.ts";
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
  const user = userId === null ? undefined : await parts.tenants?.user.find({ id: userId });
  if (userId === null || user === undefined || user.blocked)
    throw refused("Only the key of a user makes keys: this key has none, or one without a record.");
  const rules = await rulesOf(calling, parts);
  const maxKeys = Math.min(...rules.map((rule) => rule.maxKeys));
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
    createdAtMs: nowMs,
  });
  if ((await countOf(calling, parts)) >= maxKeys) throw tooMany(maxKeys);
  const [place] = await placesOf(parts, record);
  const change = { kind: "key", id: record.id, place, after: keyView(record), fields: names };
  const asker = { ...request.asker, action: "key.create" } as const;
  const outcome = await audit.change(asker, change, (store) => store.keys.insert(record));
  if (outcome !== "added") throw keyConflict(outcome, members);
  // Another request may have made one meanwhile: none stays that is one too many.
  if ((await countOf(calling, parts)) > maxKeys) {
    const undone = { kind: "key", id: record.id, place, before: keyView(record) };
    const undoing = { ...request.asker, action: "key.delete" } as const;
    await audit.change(undoing, undone, (store) => store.keys.delete(record.id));
    throw tooMany(maxKeys);
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

/** The rules of the team and of the organization. Throws `permission_denied` without any. */
async function rulesOf(calling: KeyRecord, parts: SelfParts): Promise<readonly Rule[]> {
  const team = await teamOf(parts, calling.teamId);
  const organizationId = calling.teamId === null ? calling.organizationId : team?.organizationId;
  const organization =
    organizationId == null
      ? undefined
      : await parts.tenants?.organization.find({ id: organizationId });
  const rules = [team?.selfService, organization?.selfService].flatMap((rule) => rule ?? []);
  if (rules.length > 0) return rules;
  throw refused(
    "The team and the organization of this key have no self_service: ask an administrator for a key.",
  );
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
  made: Pick<KeyRecord, "id" | "digest" | "last4" | "issuedBy" | "createdAtMs">,
): KeyRecord {
  const { alias = null, guardrails = [], softBudgetNanoUsd = null } = named as Partial<KeyRecord>;
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
    guardrails: [...new Set([...calling.guardrails, ...guardrails])],
    ...made,
  };
}

async function countOf({ userId, teamId, organizationId }: KeyRecord, { keys }: SelfParts) {
  const place =
    teamId !== null ? { teamId } : organizationId !== null ? { organizationId } : undefined;
  const page = await keys.list({ userId: userId ?? "", ...place, offset: 0, limit: 1 });
  return page.total;
}

function tooMany(maxKeys: number): GatewayError {
  return refused(`You have ${maxKeys} keys here, which is the maximum. Delete one first.`);
}

function refused(message: string): GatewayError {
  return new GatewayError("permission_denied", message);
}
