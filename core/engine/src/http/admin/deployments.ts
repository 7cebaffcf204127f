/** Admin routes for deployments: the state of every target in use, its history, and holds. */

import {
  type Clock,
  DEPLOYMENTS_KEY,
  type DeploymentEvent,
  type DeploymentRegistry,
  type DeploymentView,
  GatewayError,
} from "@sluice/contract";
import type { Holds } from "../../resources/holds.ts";
import type { SharedPool } from "../../resources/shared-pool.ts";
import type { DeploymentMinutes } from "../../telemetry/series/deployment-minutes.ts";
import { type AdminRequest, type AdminRoutes, atWhole } from "../access/route.ts";
import { endOfSpan } from "./span.ts";
import { invalid } from "./fields.ts";

/** The parts of the routes. */
export interface DeploymentRouteParts {
  readonly shared: Pick<SharedPool, "find">;
  readonly minutes: DeploymentMinutes;
  readonly holds: Holds;
  readonly clock: Clock;
}

const HEALTH = { closed: "healthy", open: "ejected", half_open: "recovering" } as const;
const DEFAULT_HOLD = "30m";
const MAX_HOLD_MS = 24 * 3_600_000;

/**
 * `GET /deployments`: health, breaker, load and counts of each. Empty where no pipeline has the
 * step `balance`. `GET /deployments/{id}` adds its last events and its minutes. `POST` of `reset`
 * makes it healthy again; `hold` sends no request to it for a while, `release` ends that. The id
 * may be percent-encoded.
 */
export function deploymentRoutes(parts: DeploymentRouteParts): AdminRoutes {
  const registry = (): DeploymentRegistry | undefined =>
    parts.shared.find(DEPLOYMENTS_KEY) as DeploymentRegistry | undefined;
  const change = (
    request: AdminRequest,
    how: (id: string) => boolean | undefined,
    answer: object,
  ): Promise<object> => {
    const { id = "" } = request.parameters;
    const audited = { kind: "deployment", id, after: { ...answer } };
    return request.audit.attempt(request, audited, () => {
      if (how(id) !== true) throw unknown();
      return { deployment: id, ...answer };
    });
  };
  return {
    "GET /deployments": atWhole("deployment.read", async () => ({
      deployments: (registry()?.list() ?? []).map(describe),
    })),
    "GET /deployments/*id": atWhole("deployment.read", async ({ parameters: { id = "" } }) => {
      const view = registry()
        ?.list()
        .find((one) => one.id === id);
      if (view === undefined) throw actionOf(id) ?? unknown();
      return {
        ...describe(view),
        events: (registry()?.events(id) ?? []).map(describeEvent),
        minutes: parts.minutes.of(id).map(({ atMs, success, failure, other, latencyMs }) => ({
          at: new Date(atMs).toISOString(),
          success,
          failure,
          other,
          latency_ms: latencyMs === null ? null : rounded(latencyMs),
        })),
      };
    }),
    "POST /deployments/*id/reset": atWhole("deployment.reset", (request) =>
      change(request, (id) => registry()?.reset(id), { reset: true }),
    ),
    "POST /deployments/*id/hold": atWhole("deployment.hold", async (request) => {
      const untilMs = holdEnd(request, parts.clock.now());
      return change(request, (id) => held(registry(), parts.holds, id, untilMs), {
        held_until: new Date(untilMs).toISOString(),
      });
    }),
    "POST /deployments/*id/release": atWhole("deployment.hold", (request) =>
      change(request, (id) => held(registry(), parts.holds, id, undefined), { held_until: null }),
    ),
  };
}

function held(
  registry: DeploymentRegistry | undefined,
  holds: Holds,
  id: string,
  untilMs: number | undefined,
): boolean {
  if (registry?.hold(id, untilMs) !== true) return false;
  holds.write(id, untilMs);
  return true;
}

/** The end of a hold. */
function holdEnd({ body }: AdminRequest, nowMs: number): number {
  const { for: span = DEFAULT_HOLD } = body;
  const endMs = typeof span === "string" ? endOfSpan(span, nowMs) : undefined;
  if (endMs !== undefined && endMs > nowMs && endMs <= nowMs + MAX_HOLD_MS) return endMs;
  throw invalid("for", "The field for must be a span of at most a day, such as 30m or 2h.");
}

function unknown(): GatewayError {
  return new GatewayError(
    "route_not_found",
    "This deployment does not exist. GET /deployments lists the deployments.",
  );
}

/** The refusal where a path that does not name a deployment is the one of an action. */
function actionOf(id: string): GatewayError | undefined {
  if (!/.\/(?:reset|hold|release)$/u.test(id)) return undefined;
  return new GatewayError("method_not_allowed", "This path takes POST.", {
    headers: { allow: "POST" },
  });
}

function describeEvent({
  atMs,
  kind,
  model,
  operation,
  code,
  requestId,
  untilMs,
}: DeploymentEvent) {
  return {
    at: new Date(atMs).toISOString(),
    kind,
    model: model ?? null,
    operation: operation ?? null,
    code: code ?? null,
    request_id: requestId ?? null,
    until: timeOf(untilMs),
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
    held_until: timeOf(view.heldUntilMs),
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
    latency_ms: view.latencyMs === undefined ? null : rounded(view.latencyMs),
    attempts: {
      total: view.successes + view.failures + view.others,
      success: view.successes,
      failure: view.failures,
      other: view.others,
    },
  };
}

function rounded(ms: number): number {
  return Math.round(ms * 10) / 10;
}

function timeOf(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString();
}
