/** Admin route for deployments: how every target is that some generation uses. */

import { DEPLOYMENTS_KEY, type DeploymentRegistry, type DeploymentView } from "@sluice/spec";
import type { SharedPool } from "../../resources/shared-pool.ts";
import type { AdminRoutes } from "./app.ts";

const HEALTH = { closed: "healthy", open: "ejected", half_open: "recovering" } as const;

/** `GET /deployments`: health, breaker, load and counts of each. Empty where no pipeline has the step `balance`. */
export function deploymentRoutes(shared: SharedPool): AdminRoutes {
  return {
    async "GET /deployments"() {
      const registry = shared.find(DEPLOYMENTS_KEY) as DeploymentRegistry | undefined;
      return { deployments: (registry?.list() ?? []).map(describe) };
    },
  };
}

function describe(view: DeploymentView) {
  return {
    deployment: view.id,
    provider: view.provider,
    model: view.model,
    health: HEALTH[view.breaker],
    breaker: view.breaker,
    ejected_until: view.ejectedUntilMs === undefined ? null : new Date(view.ejectedUntilMs).toISOString(),
    ejections: view.ejections,
    consecutive_failures: view.consecutiveFailures,
    in_flight: view.inFlight,
    queued: view.queued,
    latency_ms: view.latencyMs === undefined ? null : Math.round(view.latencyMs * 10) / 10,
    attempts: {
      total: view.successes + view.failures + view.others,
      success: view.successes,
      failure: view.failures,
      other: view.others,
    },
  };
}
