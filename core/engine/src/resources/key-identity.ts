/** What the record of a key says, before what the key belongs to. */

import type { Identity, KeyRecord } from "@sluice/contract";
import { compileIdentity, type KeyBase } from "./tenants/compile-identity.ts";
import type { Block } from "./tenants/tenant-source.ts";

/** The members of an identity that are no part of its block of limits. */
export type KeyNames = Pick<
  Identity,
  | "keyId"
  | "alias"
  | "userId"
  | "teamId"
  | "organizationId"
  | "customerId"
  | "mayNameCustomers"
  | "modelAliases"
  | "spendScope"
  | "metadata"
>;

/** A key of the store. */
export function storedKey(record: KeyRecord): KeyBase {
  const { id: keyId, alias, spendScope, userId, teamId, organizationId, metadata } = record;
  const hasScope = spendScope === "key" || (spendScope === "user" ? userId : teamId) !== null;
  const names: KeyNames = {
    keyId,
    alias: alias ?? undefined,
    userId: userId ?? undefined,
    teamId: teamId ?? undefined,
    organizationId: organizationId ?? undefined,
    // A key without a user or team reads its own rows, not those of all keys without one.
    spendScope: hasScope ? spendScope : "key",
    metadata,
    ...(record.customerId !== null && { customerId: record.customerId }),
    ...(!record.mayNameCustomers && { mayNameCustomers: false }),
    ...(Object.keys(record.modelAliases).length > 0 && { modelAliases: record.modelAliases }),
  };
  const base = keyBase(names, record, true);
  return record.madeWith === null ? base : { ...base, madeWith: record.madeWith };
}

/** A key as its record says, with the limits of the record alone. */
export function keyBase(names: KeyNames, block: Block, isStored: boolean): KeyBase {
  const identity: Identity = { kind: "key", ...names, models: [], tags: [] };
  const base = { identity, block, isStored };
  return { ...base, identity: compileIdentity(base, partsAlone(names.organizationId)) };
}

function partsAlone(organizationId: string | undefined) {
  return {
    organizationId,
    organization: undefined,
    team: undefined,
    membership: undefined,
    user: undefined,
    budgets: new Map(),
    groups: new Map(),
  };
}
