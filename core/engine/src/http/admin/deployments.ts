/** Admin routes for deployments: the state of every target in use, and the reset of one. */

import {
  DEPLOYMENTS_KEY,
  type DeploymentRegistry,
  type DeploymentView,
  GatewayError,
} from "@sluice/contract";
import type { SharedPool } from "../../resources/shared-pool.ts";
import { type AdminRoutes, atWhole } from "../access/route.ts";

const HEALTH = { closed: "healthy", open: "ejected", half_open: "recovering" } as const;

/**
 * `GET /deployments`: health, breaker, load and counts of each. Empty where no pipeline has the
 * step `balance`. `POST /deployments/{id}/reset`: makes one healthy again. The id may be
 * percent-encoded.
 */
export function deploymentRoutes(shared: SharedPool): AdminRoutes {
  const registry = (): DeploymentRegistry | undefined =>
    shared.find(DEPLOYMENTS_KEY) as DeploymentRegistry | undefined;
  return {
    "GET /deployments": atWhole("deployment.read", async () => ({
      deployments: (registry()?.list() ?? []).map(describe),
    })),
    "POST /deployments/*id/reset": atWhole("deployment.reset", async (request) => {
      const { id = "" } = request.parameters;
      return request.audit.attempt(request, { kind: "deployment", id }, () => {
        if (registry()?.reset(id) !== true) {
          throw new GatewayError(
            "route_not_found",
            "This deployment does not exist. GET /deployments lists the deployments.",
          );
        }
        return { deployment: id, reset: true };
      });
    }),
  };
}

function describe(view: DeploymentView) {
  return {
    deployment: view.id,
    provider: view.provider,
    model: view.model,
    health: HEALTH[view.breaker],
    breaker: view.breaker,
    ejected_until: timeOf(view.ejectedUntilMs),
    credential_refused: view.isCredentialRefused,
    ejected_models: view.models.map(({ model, operation, breaker, ejectedUntilMs }) => ({
      model,
      operation,
      breaker,
      ejected_until: timeOf(ejectedUntilMs),
    })),
    ejections: view.ejections,
    consecutive_failures: view.consecutiveFailures,
    in_flight: view.inFlight,
    queued: view.queued,
    tokens: view.tokens ?? null,
    latency_ms: view.latencyMs === undefined ? null : Math.round(view.latencyMs * 10) / 10,
    attempts: {
      total: view.successes + view.failures + view.others,
      success: view.successes,
      failure: view.failures,
      other: view.others,
    },
  };
}

function timeOf(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString();
}
