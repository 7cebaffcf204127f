/** Authenticates callers of the admin listener. */

import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { GatewayError, type Identity, type Secret } from "@sluice/contract";
import type { KeyRing } from "../../resources/key-ring.ts";
import type { Principal } from "./may.ts";
import { presentedKey } from "../intake/presented-key.ts";

const REFUSAL = "The master key is missing or not valid. Send it as: Authorization: Bearer …";
const NO_ADMIN =
  "Only the master key may use the admin listener, and admin keys of users who have a role.";

/** The administrator of the whole. */
export const MASTER: Principal = Object.freeze({
  kind: "master",
  keyId: "master",
  roles: Object.freeze([]),
});
const READER: Principal = Object.freeze({
  kind: "read_key",
  keyId: "read_key",
  roles: Object.freeze([]),
});

/** What callers are recognised by. */
export interface Recognition {
  readonly keyRing: Pick<KeyRing, "identify"> & Partial<Pick<KeyRing, "fingerprint">>;
  /** Lower-case names of headers, besides `authorization`, that carry a key. */
  readonly headerNames: readonly string[];
  /** The key of `server.admin.read_key`. Absent, and `undefined`: there is none. */
  readonly readKey?: () => Secret | undefined;
  /**
   * The principal of a virtual key; `undefined` when it may not administer. Absent: no virtual key
   * may.
   */
  readonly principalOf?: (identity: Identity) => Promise<Principal | undefined>;
}

/**
 * The caller, from `authorization` or from one of the named headers, as on the public listener.
 * Throws `authentication_failed` for no key, a wrong one and two different ones, and
 * `permission_denied` for a virtual key that may not administer.
 */
export async function authenticate(
  headers: IncomingHttpHeaders,
  { keyRing, headerNames, readKey, principalOf }: Recognition,
): Promise<Principal> {
  const key = presentedKey(headers, headerNames);
  const reading = readKey?.();
  // Digests are compared, so that the duration reveals nothing about the key.
  if (
    key !== undefined &&
    reading !== undefined &&
    keyRing.fingerprint?.(key) === keyRing.fingerprint?.(reading.reveal())
  )
    return READER;
  const identity = key === undefined ? undefined : await keyRing.identify(key);
  if (identity === undefined) throw new GatewayError("authentication_failed", REFUSAL);
  if (identity.kind === "master") return MASTER;
  const principal = await principalOf?.(identity);
  if (principal === undefined) throw new GatewayError("permission_denied", NO_ADMIN);
  return principal;
}

/**
 * A ring with the master key alone, for a process without a store. `masterKey` is called at each
 * look-up, because its file may change.
 */
export function masterAlone(masterKey: () => string): Pick<KeyRing, "identify"> {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  const master: Identity = Object.freeze({
    kind: "master",
    keyId: "master",
    alias: "master",
    userId: undefined,
    teamId: undefined,
    models: [],
    spendScope: "key",
    tags: [],
    metadata: {},
  });
  return {
    identify: async (presented) =>
      timingSafeEqual(digest(presented), digest(masterKey())) ? master : undefined,
  };
}
