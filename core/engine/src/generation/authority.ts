/** Who a credential belongs to, in one generation: the installation's keys and the keys the configuration declares. */

import type { Authority, Identity, Model } from "@sluice/spec";
import type { DeclaredKey, Snapshot } from "../config/snapshot.ts";
import type { KeyRing } from "../resources/key-ring.ts";
import { isWildcard } from "./models.ts";

/** The authority of a snapshot. */
export function createAuthority(snapshot: Snapshot, ring: KeyRing): Authority {
  const declared = snapshot.keys.map((settings) => [ring.fingerprint(settings.key.reveal()), identityOf(settings)] as const);
  const identities = new Map(declared);
  return {
    headerNames: snapshot.server.authHeaders,
    identify: (presented) =>
      (identities.size === 0 ? undefined : identities.get(ring.fingerprint(presented))) ?? ring.identify(presented),
    mayUse,
  };
}

function identityOf(settings: DeclaredKey): Identity {
  return Object.freeze({
    kind: "key",
    keyId: `yaml:${settings.alias}`,
    alias: settings.alias,
    userId: settings.userId,
    teamId: settings.teamId,
    models: settings.models,
    tags: settings.tags,
    metadata: settings.metadata,
  });
}

/** Whether an identity's list names the model: by its id, its entry, a wildcard or an access group. An empty list names all. */
export function mayUse(identity: Identity, model: Model): boolean {
  if (identity.models.length === 0) return true;
  return identity.models.some(
    (name) =>
      name === model.id ||
      name === model.entry ||
      model.accessGroups.includes(name) ||
      (isWildcard(name) && model.id.startsWith(name.slice(0, -1))),
  );
}
