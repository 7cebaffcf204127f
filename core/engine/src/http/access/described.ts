/** Checks queries and bodies of admin routes against the schemas of `@sluice/admin-api`. */

import { ADMIN_ROUTES, type RouteSchemas } from "@sluice/admin-api";
import type { JsonObject, JsonSchema, JsonValue } from "@sluice/contract";
import { isObject } from "@sluice/kit";
import { invalid, refuseUnknown } from "../admin/fields.ts";
import { compileShape, formatPlace, type ShapeCheck } from "../ingress/body-fields.ts";

/** What a request to a route sends. */
interface Sent {
  readonly query: URLSearchParams;
  readonly body: JsonObject;
}

type Part = "query parameter" | "field";
type Check = (sent: Sent) => void;

/** Routes by name. A route is compiled when it is first called. */
const ROUTES: RouteSchemas = ADMIN_ROUTES;
const compiled = new Map<string, Check>();

/**
 * Throws `invalid_field` for a query parameter or a body field that a route does not have, that it
 * needs, or that has another type. A route without a schema checks its own request.
 */
export function checkDescribed(name: string, sent: Sent): void {
  let check = compiled.get(name);
  if (check === undefined) {
    check = compileRoute(name);
    compiled.set(name, check);
  }
  check(sent);
}

function compileRoute(name: string): Check {
  const route = ROUTES[name];
  if (route === undefined) return () => undefined;
  const query = compileMembers(route.query as JsonSchema | undefined, "query parameter");
  const body = compileMembers(route.body as JsonSchema | undefined, "field");
  return (sent) => {
    if (route.ignoresOtherQuery !== true)
      query(given(sent.query, route.query?.properties as JsonObject | undefined));
    body(sent.body);
  };
}

/** The values of a query, of the types that the schemas name where they have their form. */
function given(query: URLSearchParams, properties: JsonObject = {}): JsonObject {
  const values: Record<string, JsonValue> = {};
  for (const [name, text] of query) {
    // The first value of a repeated parameter counts, as in every handler.
    if (Object.hasOwn(values, name)) continue;
    const schema = Object.hasOwn(properties, name) ? properties[name] : undefined;
    values[name] = valueOf(text, isObject(schema) ? schema["type"] : undefined);
  }
  return values;
}

function valueOf(text: string, type: JsonValue | undefined): JsonValue {
  if (type === "integer" && /^\d{1,15}$/.test(text)) return Number(text);
  if (type === "boolean" && (text === "true" || text === "false")) return text === "true";
  return text;
}

/** The check of a closed object. */
function compileMembers(schema: JsonSchema | undefined, part: Part): (sent: JsonObject) => void {
  const properties = isObject(schema?.["properties"]) ? schema["properties"] : {};
  const known = Object.keys(properties);
  const required = (schema?.["required"] ?? []) as readonly string[];
  const checks = new Map<string, ShapeCheck>();
  for (const [name, member] of Object.entries(properties))
    if (isObject(member)) checks.set(name, compileShape(member));
  return (sent) => {
    refuseUnknown(Object.keys(sent), known, part);
    for (const name of required)
      if (sent[name] === undefined || sent[name] === "" || sent[name] === null)
        throw invalid(name, missing(name, properties[name], part));
    for (const [name, value] of Object.entries(sent)) {
      // Forms send empty values.
      if (value === undefined || (part === "query parameter" && value === "")) continue;
      const fault = checks.get(name)?.(value);
      if (fault === undefined) continue;
      const place = formatPlace([name, ...fault.path]);
      throw invalid(place, `The ${part} ${place} ${fault.problem}.`);
    }
  };
}

function missing(name: string, schema: JsonValue | undefined, part: Part): string {
  const about = isObject(schema) ? schema["description"] : undefined;
  const what = typeof about === "string" ? `: ${about[0]?.toLowerCase()}${about.slice(1)}` : ".";
  return `The ${part} ${name} is missing${what}`;
}
