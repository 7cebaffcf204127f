/**
 * The rows that a caller may read: all for the master key; for a virtual key its own, or its user's
 * or team's by its record.
 */

import {
  type Authority,
  type Exchange,
  GatewayError,
  type Identity,
  type LedgerFilter,
} from "@sluice/contract";

/** The identity that reads. Throws `permission_denied` without an authenticated identity. */
export function readerOf(exchange: Exchange): Identity {
  if (exchange.identity !== undefined) return exchange.identity;
  throw new GatewayError(
    "permission_denied",
    "Spend rows need a key. Send one in the authorization header.",
  );
}

/**
 * The rows that an identity may read, narrowed by its filters; `keyId` is a key or its id. Returns
 * `undefined` when no row can match. Throws `permission_denied` when a key that may read its own
 * rows only names another key, whether that one exists or not.
 */
export async function scopeOf(
  identity: Identity,
  authority: Authority,
  asked: Pick<LedgerFilter, "keyId" | "userId" | "teamId">,
): Promise<LedgerFilter | undefined> {
  const keyId = await resolveKey(asked.keyId, authority);
  const narrowed: LedgerFilter = { ...asked, ...(keyId === undefined ? {} : { keyId }) };
  if (identity.kind === "master") return narrowed;
  const { spendScope, userId, teamId } = identity;
  if (spendScope === "team" && teamId !== undefined) {
    return asked.teamId === undefined || asked.teamId === teamId
      ? { ...narrowed, teamId }
      : undefined;
  }
  if (spendScope === "user" && userId !== undefined) {
    return asked.userId === undefined || asked.userId === userId
      ? { ...narrowed, userId }
      : undefined;
  }
  if (keyId !== undefined && keyId !== identity.keyId) {
    throw new GatewayError("permission_denied", "A key may read its own spend rows only.", {
      param: "api_key",
    });
  }
  return { ...narrowed, keyId: identity.keyId };
}

/** The id of a presented key; any other text is an id itself. The key is not passed on. */
async function resolveKey(
  presented: string | undefined,
  authority: Authority,
): Promise<string | undefined> {
  if (presented === undefined) return undefined;
  return (await authority.keyIdOf(presented)) ?? presented;
}
