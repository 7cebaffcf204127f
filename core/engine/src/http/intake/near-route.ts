/**
 * The route that a client with a wrong base address meant: its SDK adds `/v1` to an address that
 * ends with it, or adds none; the address has a path of another service, or is that of a route.
 */

import type { CompiledRoute } from "../../pipeline/compile.ts";
import type { RouteTable } from "../../pipeline/routes.ts";

/** The same path under other base addresses, the likeliest first. */
const REWRITES: readonly ((path: string) => string)[] = [
  (path) => path.replace(/^(?:\/v1)+(?=\/v1(?:beta)?\/)/, ""),
  (path) => `/v1${path}`,
  (path) => path.replace(/^\/v1(?:beta)?(?=\/)/, ""),
  (path) => path.replace(/^\/v1(?=\/models\/)/, "/v1beta"),
];
/** A base address has few segments. */
const MAX_CUT = 6;

/** `POST /v1/messages`: a route of the same method whose path begins in another way. */
export function nearRoute(
  routes: Pick<RouteTable<CompiledRoute>, "find">,
  method: string,
  path: string,
): string | undefined {
  for (const near of candidates(path)) {
    if (near === path) continue;
    const match = routes.find(method, near);
    if (match.kind !== "found" || match.value.operation === "passthrough") continue;
    // The first segment of such a route is a name that may not exist.
    if (match.parameters["provider"] === undefined) return `${method} ${near}`;
  }
  return undefined;
}

function* candidates(path: string): Generator<string> {
  for (const rewrite of REWRITES) yield rewrite(path);
  // `/api/v1/messages`, `/v2/messages`, `/v1/messages/v1/messages`.
  const segments = path.split("/").slice(1, -1);
  for (let cut = 1; cut <= Math.min(segments.length, MAX_CUT); cut += 1) {
    const rest = path.slice(`/${segments.slice(0, cut).join("/")}`.length);
    yield* [`/v1${rest}`, rest, `/v1beta${rest}`];
  }
}

/**
 * `:countTokens`: what routes of a method have behind the last colon, where the path has another
 * word.
 */
export function actionsAt(
  routes: Pick<RouteTable<CompiledRoute>, "find" | "entries">,
  method: string,
  path: string,
): readonly string[] {
  const colon = path.lastIndexOf(":");
  if (colon < path.lastIndexOf("/")) return [];
  const words = [...routes.entries()].flatMap((route) => {
    const [, word] = /\}(:[^/{}]+)$/.exec(route.path) ?? [];
    return word === undefined || route.method !== method ? [] : [word];
  });
  return [...new Set(words)].filter((word) => {
    const match = routes.find(method, path.slice(0, colon) + word);
    return match.kind === "found" && match.value.operation !== "passthrough";
  });
}
