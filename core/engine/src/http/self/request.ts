/** A request of self-service, and who asks. */

import type { IncomingMessage } from "node:http";
import { type Identity, type JsonObject, GatewayError, type KeyRecord } from "@sluice/contract";
import type { KeyRing } from "../../resources/key-ring.ts";
import type { Asker } from "../access/audit.ts";
import { presentedKey } from "../intake/presented-key.ts";
import type { SelfParts } from "./parts.ts";

/** A request about the caller itself. */
export interface SelfRequest {
  readonly identity: Identity;
  /** The secret that was presented. It is compared, and kept nowhere. */
  readonly presented: string;
  readonly query: URLSearchParams;
  readonly body: JsonObject;
  readonly asker: Omit<Asker, "action">;
}

export type SelfHandler = (request: SelfRequest) => Promise<JsonObject>;

/** The handlers of a path, by method. */
export type SelfRoute = Readonly<Partial<Record<"GET" | "POST", SelfHandler>>>;

/** What the audit says about a request of a key. */
export function askerOf(
  identity: Identity,
  requestId: string,
  message: IncomingMessage,
): SelfRequest["asker"] {
  const { keyId, userId } = identity;
  return {
    principal: { kind: "key", keyId, roles: [], ...(userId !== undefined && { userId }) },
    requestId,
    address: message.socket.remoteAddress ?? null,
  };
}

/** The secret of a request. Authentication has found exactly one. */
export function presentedOf(message: IncomingMessage, names: readonly string[]): string {
  return presentedKey(message.headers, names) ?? "";
}

/**
 * The stored record of the caller. Throws `permission_denied` for the master key, for a declared
 * key, and for a secret from before a rotation: it was replaced because others may have it.
 */
export async function callingKey(
  { identity, presented }: SelfRequest,
  { keys, keyRing }: Pick<SelfParts, "keys"> & { readonly keyRing: Pick<KeyRing, "digest"> },
): Promise<KeyRecord> {
  const record = identity.kind === "key" ? await keys.find(identity.keyId) : undefined;
  if (record === undefined)
    throw new GatewayError(
      "permission_denied",
      "Only keys of the store make and rotate keys for themselves. A declared key is changed in the configuration.",
    );
  if (record.previousDigest === keyRing.digest(presented))
    throw new GatewayError(
      "permission_denied",
      "This secret was replaced by a rotation. Use the new secret of the key.",
    );
  return record;
}
