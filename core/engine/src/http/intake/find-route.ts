/**
 * Finds the route of a method and path in the live generation. HEAD uses the route of GET. A
 * refusal names the methods of the path.
 */

import { GatewayError } from "@sluice/contract";
import type { Generation } from "../../generation/generation.ts";
import type { CompiledRoute } from "../../pipeline/compile.ts";
import { missingRoute } from "./missing-route.ts";
import { actionsAt, nearRoute } from "./near-route.ts";
import { invalidPath, type RequestTarget } from "./request-head.ts";

/** A route to run, or the methods of a path that OPTIONS asked about. */
export type FoundRoute =
  | {
      readonly kind: "route";
      readonly route: CompiledRoute;
      readonly parameters: Readonly<Record<string, string>>;
      /** The request's path, without a trailing slash that the route does not have. */
      readonly target: RequestTarget;
    }
  | { readonly kind: "options"; readonly methods: readonly string[] };

/** The route of a request. Throws `route_not_found`, `method_not_allowed` or `invalid_path`. */
export function findRoute(
  generation: Generation,
  method: string,
  asked: RequestTarget,
): FoundRoute {
  const { routes } = generation;
  const target = withColon(routes, method, withoutSlash(routes, method, asked));
  let match = routes.find(method, target.path);
  if (match.kind === "method" && method === "HEAD" && match.allow.includes("GET"))
    match = routes.find("GET", target.path);
  if (match.kind === "none") {
    if (method === "TRACE") throw wrongMethod(method, []);
    throw target.hasEncodedSlash
      ? invalidPath()
      : missingRoute({ path: target.path, near: nearRoute(routes, method, target.path) });
  }
  if (match.kind === "method") {
    const methods = withHead(match.allow);
    if (method !== "OPTIONS")
      throw wrongMethod(method, methods, actionsAt(routes, method, target.path));
    return { kind: "options", methods };
  }
  // A native path may have an encoded slash in a model's name: the step that forwards it decides.
  return { kind: "route", route: match.value, parameters: match.parameters, target };
}

/** Drops one trailing slash if the gateway has a route without it. A native path keeps it. */
function withoutSlash(
  routes: Generation["routes"],
  method: string,
  target: RequestTarget,
): RequestTarget {
  if (!target.path.endsWith("/") || target.path === "/") return target;
  const path = target.path.slice(0, -1);
  const match = routes.find(method === "HEAD" ? "GET" : method, path);
  const isOwn =
    match.kind === "method" || (match.kind === "found" && match.value.operation !== "passthrough");
  return isOwn ? { ...target, path } : target;
}

/** A route may end with a word behind a colon, which some clients escape: `gpt-5%3AcountTokens`. */
function withColon(
  routes: Generation["routes"],
  method: string,
  target: RequestTarget,
): RequestTarget {
  if (!target.path.includes("%")) return target;
  const path = target.path.replace(/%3a(?=[a-z]+$)/i, ":");
  if (path === target.path || routes.find(method, target.path).kind === "found") return target;
  const match = routes.find(method, path);
  const isOwn = match.kind === "found" && match.value.operation !== "passthrough";
  return isOwn ? { ...target, path } : target;
}

/** The value of `allow`. HEAD is allowed wherever GET is. */
function withHead(methods: readonly string[]): readonly string[] {
  return methods.includes("GET") && !methods.includes("HEAD") ? [...methods, "HEAD"] : methods;
}

/**
 * The refusal of a method, with `allow`. `actions`: words that the path could end with for this
 * method.
 */
export function wrongMethod(
  method: string,
  allow: readonly string[],
  actions: readonly string[] = [],
): GatewayError {
  const names = allow.join(", ");
  const takes = names === "" ? "" : `; it takes ${names}`;
  const hint = actions.length === 0 ? "" : ` ${method} is served for ${actions.join(", ")}.`;
  return new GatewayError(
    "method_not_allowed",
    `This path does not take ${method}${takes}.${hint}`,
    { headers: { allow: names } },
  );
}
