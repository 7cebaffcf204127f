/** Who a credential belongs to, in one generation: the installation's keys and the keys the configuration declares. */

import type { Authority, Identity, Model } from "@sluice/spec";
import type { Snapshot } from "../config/snapshot.ts";
import type { KeyRing } from "../resources/key-ring.ts";
import { isWildcard } from "./models.ts";

/** The authority of a snapshot. */
export function createAuthority(snapshot: Snapshot, ring: KeyRing): Authority {
  const declared = new Map<string, Identity>();
  for (const settings of snapshot.keys) {
    declared.set(ring.digest(settings.key.reveal()), {
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
  return {
    headerNames: snapshot.server.authHeaders,
    identify(presented) {
      const digest = ring.digest(presented);
      return declared.get(digest) ?? ring.find(digest);
    },
    mayUse,
  };
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
