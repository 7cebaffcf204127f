/** Calls of the gateway's own administration routes, as the caller. */

import type {
  EdgeAnswer,
  EdgeGateway,
  ExtensionRequest,
  ExtensionRoute,
  JsonObject,
  JsonValue,
  PolicyAction,
} from "@sluice/contract";
import { isObject } from "@sluice/kit";
import { type FieldRules, translate } from "./translate.ts";

/** A route of administration, without its listener. */
export type AdminExtensionRoute = Omit<ExtensionRoute, "listener">;

/** Makes a route. */
export function adminRoute(
  route: `${ExtensionRoute["method"]} /${string}`,
  access: PolicyAction | "key",
  handler: ExtensionRoute["handler"],
): AdminExtensionRoute {
  const [method, path = ""] = route.split(" ");
  return { method: method as ExtensionRoute["method"], path, access, handler };
}

/** Posts a body to a route of the admin listener. */
export function post(gateway: EdgeGateway, path: string, body: JsonObject): Promise<EdgeAnswer> {
  return gateway.call({ listener: "admin", method: "POST", path, body });
}

type Query = Readonly<Record<string, string | undefined>>;

/** Gets a page of the admin listener. */
export function get(gateway: EdgeGateway, path: string, query: Query = {}): Promise<EdgeAnswer> {
  return gateway.call({ listener: "admin", method: "GET", path, query });
}

/**
 * Gets a page that both listeners have: the admin listener's, or for a caller without a role what
 * the public one shows to the caller's own key.
 */
export async function getOwn(
  gateway: EdgeGateway,
  path: string,
  query: Query = {},
): Promise<EdgeAnswer> {
  const answer = await get(gateway, path, query);
  if (answer.status !== 403) return answer;
  const own = await gateway.call({ method: "GET", path, query });
  return own.status === 404 ? answer : own;
}

/** Posts to a route that both listeners have, as `getOwn` gets one. */
export async function postOwn(
  gateway: EdgeGateway,
  path: string,
  body: JsonObject,
): Promise<EdgeAnswer> {
  const answer = await post(gateway, path, body);
  if (answer.status !== 403) return answer;
  const own = await gateway.call({ method: "POST", path, body });
  return own.status === 404 ? answer : own;
}

/** A query without the parameters that are not named. Empty ones count as absent. */
export function pick(
  { query }: ExtensionRequest,
  ...names: readonly string[]
): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(names.map((name) => [name, query.get(name) || undefined]));
}

/** The object of a good answer; an empty one for anything else. */
export function objectIn({ body }: EdgeAnswer): JsonObject {
  return isObject(body) ? body : {};
}

/** The objects of a list. */
export function objectsIn(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? (value as readonly JsonValue[]).filter(isObject) : [];
}

/** A good answer with another body; a failure as it is. */
export function mapped(answer: EdgeAnswer, make: (body: JsonObject) => JsonValue): EdgeAnswer {
  return answer.status < 300 ? { ...answer, body: make(objectIn(answer)) } : answer;
}

/** How a record is written: the route, the rules of its fields, and its view. */
export interface Writing {
  readonly path: string;
  readonly rules: FieldRules;
  readonly isNew: boolean;
  readonly view: (record: JsonObject) => JsonObject;
}

/** Writes a record. The answer names the fields that were left out. */
export async function write(
  gateway: EdgeGateway,
  given: JsonObject,
  { path, rules, isNew, view }: Writing,
): Promise<EdgeAnswer> {
  const { body, ignored } = translate(given, rules, isNew);
  const answer = await postOwn(gateway, path, body);
  return mapped(answer, (record) => ({
    ...view(record),
    ...(ignored.length > 0 && { ignored_fields: ignored }),
  }));
}
