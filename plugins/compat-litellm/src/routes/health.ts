/** LiteLLM's health routes. */

import type { EdgeAnswer, ExtensionRoute, JsonObject, JsonValue } from "@sluice/contract";
import { isObject } from "@sluice/kit";

export const HEALTH_ROUTES: readonly ExtensionRoute[] = [
  ...["/health/liveliness", "/health/liveness"].map((path): ExtensionRoute => ({
    listener: "public",
    method: "GET",
    path,
    access: "open",
    handler: () => ({ status: 200, body: "I'm alive!" }),
  })),
  {
    listener: "public",
    method: "GET",
    path: "/health/readiness",
    access: "open",
    handler: (_request, gateway) =>
      gateway.isReady()
        ? { status: 200, body: { status: "healthy", db: "connected" } }
        : { status: 503, body: { status: "unhealthy", db: "disconnected" } },
  },
  {
    listener: "public",
    method: "GET",
    path: "/health",
    access: "key",
    handler: async (_request, gateway) =>
      healthOf(await gateway.call({ listener: "admin", method: "GET", path: "/deployments" })),
  },
  {
    listener: "public",
    method: "GET",
    path: "/routes",
    access: "key",
    handler: (_request, gateway) => ({
      status: 200,
      body: {
        routes: gateway
          .routes()
          .map(({ method, path }) => ({ path, methods: [method], name: path, endpoint: path })),
      },
    }),
  },
];

/**
 * The state of the deployments, as their last calls left it. No upstream is called. A caller who
 * may not read it gets the refusal.
 */
function healthOf(answer: EdgeAnswer): EdgeAnswer {
  if (answer.status !== 200) return answer;
  const { body } = answer;
  const list = isObject(body) && Array.isArray(body.deployments) ? body.deployments : body;
  const all = (Array.isArray(list) ? (list as readonly JsonValue[]) : []).filter(isObject);
  const healthy = all.filter(({ health }) => health === "healthy");
  const unhealthy = all.filter(({ health }) => health !== "healthy");
  return {
    status: 200,
    body: {
      healthy_endpoints: healthy.map(endpointOf),
      unhealthy_endpoints: unhealthy.map((one) => ({
        ...endpointOf(one),
        error: String(one.health ?? ""),
      })),
      healthy_count: healthy.length,
      unhealthy_count: unhealthy.length,
    },
  };
}

function endpointOf({ deployment }: JsonObject): JsonObject {
  return { model: deployment ?? null, model_id: deployment ?? null };
}
