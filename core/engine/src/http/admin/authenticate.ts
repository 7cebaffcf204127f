/** Authenticates callers of the admin listener: only the master key is accepted. */

import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { GatewayError, type Identity } from "@sluice/contract";
import type { KeyRing } from "../../resources/key-ring.ts";
import { presentedKey } from "../intake/presented-key.ts";

const REFUSAL = "The master key is missing or not valid. Send it as: Authorization: Bearer …";

/**
 * Lets the master key pass, from `authorization` or from one of the named headers, as on the public
 * listener. Throws `authentication_failed` for no key, a wrong one and two different ones, and
 * `permission_denied` for a virtual key.
 */
export async function authenticate(
  headers: IncomingHttpHeaders,
  names: readonly string[],
  keyRing: Pick<KeyRing, "identify">,
): Promise<void> {
  const key = presentedKey(headers, names);
  const identity = key === undefined ? undefined : await keyRing.identify(key);
  if (identity === undefined) throw new GatewayError("authentication_failed", REFUSAL);
  if (identity.kind !== "master")
    throw new GatewayError("permission_denied", "Only the master key may use the admin listener.");
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
