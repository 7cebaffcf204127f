/** Routes of extensions on the admin listener, of the live generation. */

import type { ClientRequest, ExtensionRoute } from "@sluice/contract";
import type { Generation } from "../../generation/generation.ts";
import { refusal } from "../access/access.ts";
import { type Principal, visibleTo } from "../access/may.ts";
import type { ExtensionAnswer } from "../admin/app.ts";
import { type RouteParts, withGateway } from "./route.ts";

/** Finds the answer for a method and a path. The caller has been authenticated. */
export function adminExtension(
  live: () => Generation | undefined,
  parts: RouteParts,
): (method: string, path: string) => ExtensionAnswer | undefined {
  return (method, path) => {
    const generation = live();
    const table = generation?.edge?.routes.admin;
    const match = table?.find(method === "HEAD" ? "GET" : method, path);
    if (generation === undefined || match?.kind !== "found") return undefined;
    const { value: route, parameters } = match;
    const run: ExtensionAnswer["run"] = async ({ message, response, body, principal }) => {
      checkAccess(route, principal);
      const [, search = ""] = (message.url ?? "").split("?", 2);
      const client: ClientRequest = {
        method,
        path,
        query: search,
        parameters,
        header(name) {
          const value = message.headers[name];
          return typeof value === "string" ? value : undefined;
        },
        address: message.socket.remoteAddress ?? null,
      };
      const query = new URLSearchParams(search);
      return withGateway({ message, response, generation, parts }, async (gateway) =>
        route.handler({ client, query, body, identity: undefined }, gateway),
      );
    };
    return { readsBody: route.body !== "none", run };
  };
}

/** Throws `permission_denied` for a caller who may do the route's action to no object. */
function checkAccess({ access }: ExtensionRoute, principal: Principal): void {
  if (access === "open" || access === "key") return;
  if (visibleTo(principal, access) === undefined) throw refusal(principal, access);
}
