/** Organizations, users, members, budgets, access groups and customers of another gateway. */

import {
  EMPTY_LIMITS,
  type JsonObject,
  type LimitBlock,
  type MembershipRecord,
  type TenantRecords,
} from "@sluice/contract";
import { requiredText } from "../fields.ts";
import { readId, readRecordChanges } from "../record-fields.ts";
import { KINDS, type KindRoutes, type RoutedKind, tableOf } from "../tenants/kinds.ts";
import { idOf, isOf } from "../tenants/locate.ts";
import { MEMBER_FIELDS, memberView } from "../tenants/members.ts";
import { declaredOf, type TenantRouteParts } from "../tenants/parts.ts";
import {
  added,
  IMPORT_FIELDS,
  type ImportParts,
  insert,
  missingOf,
  originOf,
  type Result,
  type TakeEntry,
  unchanged,
} from "./parts.ts";
import { conflict } from "./take-team.ts";
import { ROLE_FIELD } from "./role-field.ts";
import { withoutAlias } from "./without-alias.ts";

/** Makes the function that makes one record of a kind. */
export function takeTenant(name: RoutedKind, tenants: TenantRouteParts): TakeEntry {
  const kind = KINDS[name] as KindRoutes<RoutedKind>;
  const isBlock = "blocked" in kind.empty;
  const others = [
    kind.idField,
    ...(name === "customer" ? ["organization_id"] : []),
    ...(isBlock ? IMPORT_FIELDS : ["created_at", "requires"]),
  ];
  const fields = {
    ...kind.fields,
    ...kind.createFields,
    ...(name === "user" && ROLE_FIELD),
  };
  return async (entry, parts) => {
    const nowMs = parts.clock.now();
    const { members, names } = readRecordChanges(entry, fields, others, nowMs);
    const given = requiredText(entry, kind.idField, `the id of the ${kind.noun}`);
    const id = kind.readId(given, kind.idField, nowMs) as string;
    const identity = idOf(kind, id, entry["organization_id"]);
    if (declaredOf(tenants, name, (record) => isOf(record, identity)) !== undefined)
      return unchanged(id, "the configuration declares it");
    const find = () => tableOf(tenants.records, name).find(identity);
    if ((await find()) !== undefined) return unchanged(id, "it exists");
    const missing = await missingOf(entry, id, parts);
    if (missing !== undefined) return missing;
    const record = { ...kind.empty, ...members, ...identity, ...originOf(entry, nowMs) };
    if (parts.isDryRun) return added(id);
    const inserted = await insertTenant(record as unknown as Inserted, kind, names, parts);
    if (inserted.outcome === "added") return added(id, inserted.changed);
    return (await find()) === undefined
      ? conflict(id, inserted.outcome)
      : unchanged(id, "it exists");
  };
}

/** A record of any kind. Only those of users have an e-mail. */
type Inserted = TenantRecords[RoutedKind] & LimitBlock & { readonly email?: string | null };

async function insertTenant(
  record: Inserted,
  { kind, aliasField, view, object }: KindRoutes<RoutedKind>,
  fields: readonly string[],
  parts: ImportParts,
): Promise<{ readonly outcome: string; readonly changed: readonly string[] }> {
  const write = (one: Inserted) =>
    insert(
      parts,
      { kind, id: record.id, place: object(one).places[0], after: view(one), fields },
      async ({ tenants }) =>
        tenants === undefined ? "missing" : tableOf({ tenants }, kind).insert(one),
    );
  const result = await withoutAlias(record, aliasField, write);
  if (result.outcome !== "taken" || (record.email ?? null) === null) return result;
  // The id, or the e-mail: which of the two shows without the e-mail.
  const outcome = await write({ ...record, email: null });
  return { outcome, changed: ["user_email: another user has it; this one has none"] };
}

/** Makes one membership. */
export function takeMember(tenants: TenantRouteParts): TakeEntry {
  return async (entry: JsonObject, parts: ImportParts): Promise<Result> => {
    const nowMs = parts.clock.now();
    const others = ["user_id", "team_id", ...IMPORT_FIELDS];
    const { members, names } = readRecordChanges(entry, MEMBER_FIELDS, others, nowMs);
    const userId = readId(requiredText(entry, "user_id", "the id of a user"), "user_id");
    const teamId = readId(requiredText(entry, "team_id", "the id of a team"), "team_id");
    const id = `${userId}@${teamId}`;
    const identity = { userId, teamId };
    if (declaredOf(tenants, "membership", (record) => isOf(record, identity)) !== undefined)
      return unchanged(id, "the configuration declares it");
    const { membership } = tenants.records.tenants;
    if ((await membership.find(identity)) !== undefined) return unchanged(id, "it exists");
    const missing = await missingOf(entry, id, parts);
    if (missing !== undefined) return missing;
    const record: MembershipRecord = {
      ...EMPTY_LIMITS,
      role: "member",
      ...members,
      ...identity,
      ...originOf(entry, nowMs),
    };
    if (parts.isDryRun) return added(id);
    const outcome = await insert(
      parts,
      {
        kind: "membership",
        id,
        place: { organizationId: null, teamId },
        after: memberView(record),
        fields: names,
      },
      async ({ tenants: store }) =>
        store === undefined ? "missing" : store.membership.insert(record),
    );
    if (outcome === "added") return added(id);
    return (await membership.find(identity)) === undefined
      ? conflict(id, outcome)
      : unchanged(id, "it exists");
  };
}
