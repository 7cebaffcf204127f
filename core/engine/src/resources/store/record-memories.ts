/** The memories of a key ring together: what changes of records do to them. */

import type { RecordChange, RecordChanges } from "@sluice/contract";
import type { RememberedKeys } from "./remembered-keys.ts";
import type { CustomerMemory } from "../tenants/customer-memory.ts";
import type { OwnedTags } from "../tenants/owned-tags.ts";
import type { StoredTenants } from "../tenants/stored-tenants.ts";

/** The memories. */
export interface RecordMemories {
  readonly keys: RememberedKeys;
  readonly tags: OwnedTags;
  readonly tenants: StoredTenants;
  readonly customers: CustomerMemory;
}

/** Any record may have changed. */
export function expireAll({ keys, tags, tenants, customers }: RecordMemories): void {
  keys.expire();
  tags.expire();
  tenants.expireAll();
  customers.expireAll();
}

/** Takes changes. `undefined`: any record may have changed, and held as of a time. */
export function takeChanges(
  memories: RecordMemories,
  changes: RecordChanges,
  asOfMs: number,
): void {
  for (const change of changes ?? []) takeOne(memories, change);
  if (changes !== undefined) return;
  const { keys, tags, tenants, customers } = memories;
  keys.recheckAll(asOfMs);
  tags.expire();
  tenants.recheckAll(asOfMs);
  customers.recheckAll(asOfMs);
}

function takeOne({ keys, tags, tenants, customers }: RecordMemories, change: RecordChange): void {
  const [id] = change.ids ?? [];
  if (change.kind === "key") keys.expire(id);
  else if (change.kind === "tag") tags.expire(id);
  tenants.expire(change);
  customers.expire(change);
}
