/**
 * The route that a client with a wrong base address meant: its SDK adds `/v1` to an address that
 * ends with it, or adds none.
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

/** `POST /v1/messages`: a route of the same method whose path differs in its version alone. */
export function nearRoute(
  routes: Pick<RouteTable<CompiledRoute>, "find">,
  method: string,
  path: string,
): string | undefined {
  for (const rewrite of REWRITES) {
    const near = rewrite(path);
    if (near === path) continue;
    const match = routes.find(method, near);
    if (match.kind === "found" && match.value.operation !== "passthrough")
      return `${method} ${near}`;
  }
  return undefined;
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
