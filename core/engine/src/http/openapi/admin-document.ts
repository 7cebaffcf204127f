/** `GET /openapi.json` of the admin listener, from the schemas that check its requests. */

import { ADMIN_API, ADMIN_ROUTES, type RouteSchema, type RouteSchemas } from "@sluice/admin-api";
import {
  type JsonObject,
  type JsonSchema,
  type JsonValue,
  POLICY,
  type PolicyAction,
} from "@sluice/contract";
import { isObject } from "@sluice/kit";
import { type AdminRoute, type AdminRoutes, listed } from "../access/route.ts";
import { documented, errorReferences, errorResponses } from "./error-responses.ts";
import { ERROR_SCHEMA } from "./replies.ts";

const ROUTES: RouteSchemas = ADMIN_ROUTES;

/** The routes, with the one that describes them. Every role reads it. */
export function withDocument(routes: AdminRoutes, authHeaders: readonly string[]): AdminRoutes {
  let made: JsonObject | undefined;
  const all: AdminRoutes = {
    ...routes,
    "GET /openapi.json": listed("api.read", async () => (made ??= adminDocument(all, authHeaders))),
  };
  return all;
}

function adminDocument(routes: AdminRoutes, authHeaders: readonly string[]): JsonObject {
  const paths: Record<string, Record<string, JsonValue>> = {};
  const present: Readonly<Record<string, AdminRoute>> = routes;
  for (const [name, route] of Object.entries(ROUTES)) {
    const action = present[name]?.action;
    // A store without tenants has no routes of them. Those under /ui/ are beside the policy.
    if (action === undefined && !name.includes(" /ui/")) continue;
    const [method = "", path = ""] = name.split(" ");
    const shown = path.replaceAll(/[:*](\w+)/g, "{$1}");
    (paths[shown] ??= {})[method.toLowerCase()] = operationOf(name, route, action);
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Sluice administration",
      version: `${ADMIN_API}.0.0`,
      description: "Keys, teams, tenants, requests and the configuration of one gateway.",
    },
    servers: [{ url: "." }],
    paths,
    components: {
      schemas: { Error: ERROR_SCHEMA },
      responses: errorResponses(),
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer", description: "The master key, or an admin key." },
        ...Object.fromEntries(
          authHeaders.map((header) => [header, { type: "apiKey", in: "header", name: header }]),
        ),
      },
    },
    security: [{ bearer: [] }, ...authHeaders.map((header) => ({ [header]: [] }))],
  };
}

function needs(action: PolicyAction | undefined): string {
  if (action === undefined) return "Needs what it takes itself.";
  const { role, reach } = POLICY[action];
  return `Needs the role ${role}${reach === "whole" ? " at the whole" : ""} (${action}).`;
}

function operationOf(
  name: string,
  route: RouteSchema,
  action: PolicyAction | undefined,
): JsonObject {
  const [, path = ""] = name.split(" ");
  const parameters = [...inPath(path), ...inQuery(route.query as JsonSchema | undefined)];
  const body = route.body as JsonSchema | undefined;
  return {
    operationId: name.toLowerCase().replaceAll(/\W+/g, "_"),
    tags: [path.split("/")[1] ?? ""],
    summary: route.about,
    description: needs(action),
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && {
      requestBody: { required: true, content: json(documented(body)) },
    }),
    responses: {
      "200": {
        description: route.about,
        content: {
          ...json(documented(route.answer as JsonSchema)),
          ...Object.fromEntries(
            (route.texts ?? []).map((type) => [type, { schema: { type: "string" } }]),
          ),
        },
      },
      ...errorReferences(),
      default: { $ref: "#/components/responses/Error" },
    },
  };
}

function json(schema: JsonSchema): JsonObject {
  return { "application/json": { schema } };
}

function inPath(path: string): JsonObject[] {
  return [...path.matchAll(/([:*])(\w+)/g)].map(([, kind, name = ""]) => ({
    name,
    in: "path",
    required: true,
    ...(kind === "*" && { description: "May hold slashes, as they are or encoded." }),
    schema: { type: "string" },
  }));
}

function inQuery(query: JsonSchema | undefined): JsonObject[] {
  const properties = isObject(query?.["properties"]) ? query["properties"] : {};
  const required = (query?.["required"] ?? []) as readonly string[];
  return Object.entries(properties).map(([name, schema]) => {
    const { description, ...shape } = documented(schema as JsonSchema);
    return {
      name,
      in: "query",
      ...(required.includes(name) && { required: true }),
      ...(description !== undefined && { description }),
      schema: shape,
    };
  });
}
