/** What sessions are made from. */

import type { Clock, Identity, KeyRecord, SessionStore } from "@sluice/contract";
import type { KeyRing } from "../../resources/key-ring.ts";
import type { Principal } from "../access/may.ts";

/** The parts. */
export interface SessionParts {
  /** Absent: the store keeps none. */
  readonly store: SessionStore | undefined;
  readonly keyRing: Pick<
    KeyRing,
    | "digest"
    | "identify"
    | "recordOf"
    | "identifyRecord"
    | "masterDigest"
    | "isMasterDigest"
    | "isMaster"
    | "fingerprint"
  >;
  readonly keys: { find(id: string): Promise<KeyRecord | undefined> };
  readonly principalOf: (identity: Identity) => Promise<Principal | undefined>;
  readonly clock: Clock;
}
