/** Whose a session is, at each request anew. */

import type { SessionRecord } from "@sluice/contract";
import { MASTER } from "../access/authenticate.ts";
import type { Principal } from "../access/may.ts";
import type { SessionParts } from "./session-parts.ts";

/** The principal; `undefined`: its key was blocked or rotated, or lost its roles. */
export async function principalOfSession(
  record: SessionRecord,
  { keyRing, keys, principalOf, clock }: SessionParts,
): Promise<Principal | undefined> {
  if (record.master !== keyRing.masterDigest()) return undefined;
  if (record.actor === MASTER.keyId) return isOfMaster(record, keyRing) ? MASTER : undefined;
  const key = await keys.find(record.actor);
  if (key === undefined) return undefined;
  const isPresent = key.digest === record.credential;
  const isPrevious =
    key.previousDigest === record.credential && clock.now() < (key.previousUntilMs ?? 0);
  if (!isPresent && !isPrevious) return undefined;
  const identity = await keyRing.identifyRecord(key);
  return identity && personOf(await principalOf(identity));
}

/** A principal that may have sessions: service accounts have none. */
export function personOf(principal: Principal | undefined): Principal | undefined {
  return principal?.isService === true ? undefined : principal;
}

/** Whether it was opened with the master key as it is now. */
export function isOfMaster(
  { credential, master }: SessionRecord,
  keyRing: SessionParts["keyRing"],
): boolean {
  return master === keyRing.masterDigest() && keyRing.isMasterDigest(credential);
}
