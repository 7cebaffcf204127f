/**
 * LiteLLM's routes of operations that the gateway has none of. They answer 404 with the native
 * paths of the configured providers.
 */

import {
  type EdgeGateway,
  type ExtensionHandler,
  type ExtensionRequest,
  type ExtensionRoute,
  GatewayError,
  type Host,
  type ProviderCatalog,
} from "@sluice/contract";
import { isObject } from "@sluice/kit";

const POSTED = [
  "/moderations",
  "/rerank",
  "/audio/speech",
  "/audio/transcriptions",
  "/audio/translations",
];
/** Resources: the list, and what stands below it. */
const RESOURCES = [
  "/images/edits",
  "/images/variations",
  "/files",
  "/batches",
  "/fine_tuning/jobs",
  "/vector_stores",
  "/assistants",
  "/threads",
];
const VERSIONS = ["", "/v1", "/v2"];

/** The routes; `host` knows which providers have OpenAI's resources. */
export function missingRoutes({ providers }: Pick<Host, "providers">): readonly ExtensionRoute[] {
  const route = (
    method: ExtensionRoute["method"],
    path: string,
    handler: ExtensionHandler,
  ): ExtensionRoute => ({
    listener: "public",
    method,
    path,
    access: "key",
    body: "none",
    handler,
  });
  const resource: ExtensionHandler = ({ client }) => refuseResource(client.path, providers);
  return [
    ...POSTED.flatMap((path) =>
      VERSIONS.map((version) => route("POST", `${version}${path}`, refuse)),
    ),
    ...RESOURCES.flatMap((path) =>
      ["", "/v1"].flatMap((version) => [
        route("GET", `${version}${path}`, resource),
        route("POST", `${version}${path}`, resource),
        route("GET", `${version}${path}/{rest...}`, resource),
        route("POST", `${version}${path}/{rest...}`, resource),
        route("DELETE", `${version}${path}/{rest...}`, resource),
      ]),
    ),
  ];
}

/** Names the address at providers of OpenAI's own API, which declare none of these endpoints. */
function refuseResource(path: string, providers: ProviderCatalog): never {
  const bare = path.replace(/^\/v1(?=\/)/, "");
  const addresses = providers
    .names()
    .filter((name) => providers.find(name)?.use === "openai")
    .map((name) => `/${name}/v1${bare}`);
  const message = "This path does not exist.";
  throw new GatewayError(
    "route_not_found",
    addresses.length === 0
      ? message
      : `${message} A provider's own API is served under its name: ${addresses.slice(0, MAX_ADDRESSES).join(", ")}. \`endpoints\` of the provider in gateway.yaml opens it.`,
  );
}

const MAX_ADDRESSES = 4;

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
