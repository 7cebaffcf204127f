/** Keys that were made with another one: limits of each key hold for them together. */

import { type Identity, type LedgerSumFilter, madeTag } from "@sluice/contract";

/** The key that limits of each key count: the one that it was made with, else itself. */
export function countedKey({ keyId, madeWith }: Identity): string {
  return madeWith?.keyId ?? keyId;
}

/** Names that `only` of an option may have for a key: ids and aliases. */
export function namesOfKey({ keyId, alias, madeWith }: Identity): readonly string[] {
  return [keyId, alias, madeWith?.keyId, madeWith?.alias].filter((name) => name !== undefined);
}

/** The rows of the keys that were made with a key; `undefined`: keys without a user make none. */
export function rowsOfMade(keyId: string, { userId }: Identity): LedgerSumFilter | undefined {
  return userId === undefined ? undefined : { tag: madeTag(keyId) };
}
