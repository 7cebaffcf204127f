/** Admin routes for the fleet: the instances that share the store. */

import { doAgree, type Instance, joinInstances } from "../../../fleet/join-instances.ts";
import type { Membership } from "../../../fleet/membership.ts";
import { type AdminRoutes, atWhole } from "../../access/route.ts";

/** The parts of the process that the routes read. */
export interface FleetRouteParts {
  readonly membership: Membership;
}

/** The routes. Without other instances the fleet is this one. */
export function fleetRoutes({ membership }: FleetRouteParts): AdminRoutes {
  return {
    "GET /fleet": atWhole("status.read", async () => {
      const { nowMs, records, isCurrent } = await membership.list();
      const instances = joinInstances(records, nowMs, membership.reportEveryMs);
      return {
        as_of: new Date(nowMs).toISOString(),
        store_answers: isCurrent,
        agree: doAgree(instances),
        instances: instances.map((instance) => describeInstance(instance, membership.id)),
      };
    }),
  };
}

function describeInstance(instance: Instance, own: string) {
  const { id, name, version, adminUrl, state, generation, digest, contents, canary } = instance;
  const { startedAtMs, sinceMs, seenAtMs, refused, workers } = instance;
  return {
    id,
    name,
    is_self: id === own,
    version,
    admin_url: adminUrl,
    state,
    generation,
    digest,
    contents,
    canary,
    since: new Date(sinceMs).toISOString(),
    started_at: new Date(startedAtMs).toISOString(),
    seen_at: new Date(seenAtMs).toISOString(),
    workers: { ...workers },
    refused: refused === null ? null : { ...refused },
  };
}
