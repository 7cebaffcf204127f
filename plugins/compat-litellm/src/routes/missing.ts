/**
 * LiteLLM's routes of operations that the gateway has none of. They answer 404 with the native
 * paths of the configured providers.
 */

import {
  type EdgeGateway,
  type ExtensionRequest,
  type ExtensionRoute,
  GatewayError,
} from "@sluice/contract";
import { isObject } from "@sluice/kit";

const POSTED = [
  "/moderations",
  "/rerank",
  "/audio/speech",
  "/audio/transcriptions",
  "/audio/translations",
  "/images/edits",
  "/images/variations",
];
/** Resources: the list, and what stands below it. */
const RESOURCES = [
  "/files",
  "/batches",
  "/fine_tuning/jobs",
  "/vector_stores",
  "/assistants",
  "/threads",
];
const VERSIONS = ["", "/v1", "/v2"];

export const MISSING_ROUTES: readonly ExtensionRoute[] = [
  ...POSTED.flatMap((path) => VERSIONS.map((version) => missing("POST", `${version}${path}`))),
  ...RESOURCES.flatMap((path) =>
    ["", "/v1"].flatMap((version) => [
      missing("GET", `${version}${path}`),
      missing("POST", `${version}${path}`),
      missing("GET", `${version}${path}/{rest...}`),
      missing("POST", `${version}${path}/{rest...}`),
      missing("DELETE", `${version}${path}/{rest...}`),
    ]),
  ),
];

function missing(method: ExtensionRoute["method"], path: string): ExtensionRoute {
  return { listener: "public", method, path, access: "key", body: "none", handler: refuse };
}

/** Versions under which providers declare an endpoint. */
const TRIED = ["/v1", "/v2"];

/** Asks the gateway's own routes, whose refusal names the native address. */
async function refuse({ client }: ExtensionRequest, gateway: EdgeGateway): Promise<never> {
  const { method } = client;
  const path = client.path.replace(/^\/v[12](?=\/)/, "");
  let message = "This path does not exist.";
  for (const version of TRIED) {
    // oxlint-disable-next-line no-await-in-loop -- the second version only where the first is none.
    const { status, body } = await gateway.call({ method, path: `${version}${path}` });
    const error = isObject(body) ? body.error : undefined;
    const said = isObject(error) && status === 404 ? String(error.message) : message;
    if (said.length <= message.length) continue;
    message = said;
    break;
  }
  throw new GatewayError("route_not_found", message);
}
