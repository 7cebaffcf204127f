/** What of a client's native request goes on: a checked path, a query without keys, headers from an allow-list. */

import { type ClientRequest, GatewayError } from "@sluice/spec";

/**
 * Request headers that go on. The list is short on purpose: credentials, cookies, forwarding and hop-by-hop headers are not on
 * it, so they cannot leak by a new name.
 */
const FORWARDED = [
  "accept",
  "anthropic-beta",
  "anthropic-version",
  "content-type",
  "idempotency-key",
  "openai-beta",
  "x-amzn-bedrock-accept",
  "x-amzn-bedrock-guardrailidentifier",
  "x-amzn-bedrock-guardrailversion",
  "x-amzn-bedrock-performanceconfig-latency",
  "x-amzn-bedrock-trace",
  "x-goog-user-project",
];

/** Names under which clients put keys into a query. */
const KEY_PARAMETERS = new Set(["key", "api_key", "api-key", "access_token", "token"]);

const MAX_ENDPOINT_CHARACTERS = 2_048;

/** Dots, slashes, backslashes and NUL in disguise, and what a URL parser might read as something else. */
const SUSPICIOUS = /(?:^|\/)\.{1,2}(?:\/|$)|\/\/|[\\;#\s]|%(?:2e|2f|5c|00|25)|[^\x21-\x7e]/i;

/** The native path, as the client wrote it. Throws `invalid_field` for one that could leave the provider's own address. */
export function nativeEndpoint(client: ClientRequest): string {
  const endpoint = client.parameters.endpoint ?? "";
  if (endpoint === "" || endpoint.length > MAX_ENDPOINT_CHARACTERS || SUSPICIOUS.test(`/${endpoint}`)) {
    throw new GatewayError(
      "invalid_field",
      "The path of a passthrough request may not hold dot segments, empty segments or encoded slashes.",
    );
  }
  return endpoint;
}

/** The query without keys: the credential of the call is the provider's. */
export function nativeQuery(query: string): string {
  if (query === "") return "";
  const kept = query
    .split("&")
    .filter((pair) => !KEY_PARAMETERS.has(decodeURIComponentSafely(pair.split("=")[0] ?? "").toLowerCase()));
  return kept.join("&");
}

/** The headers that go on. */
export function nativeHeaders(client: ClientRequest): Record<string, string> {
  const headers: Record<string, string> = { "user-agent": "sluice" };
  for (const name of FORWARDED) {
    const value = client.header(name);
    if (value !== undefined) headers[name] = value;
  }
  return headers;
}

/** The model of a native request: the path's where it can only stand there, else the body's. Empty when it names none. */
export function nativeModel(bodyModel: string, endpoint: string): string {
  // Bedrock reads the path alone, and its ids hold colons: `model/anthropic.claude-3-haiku-20240307-v1:0/converse`.
  const [, only] = /^model\/([^/]+)\//.exec(endpoint) ?? [];
  if (only !== undefined) return decodeURIComponentSafely(only);
  if (bodyModel !== "") return bodyModel;
  const [, inPath] = /(?:^|\/)(?:models|deployments|engines)\/([^/:]+)/.exec(endpoint) ?? [];
  return inPath === undefined ? "" : decodeURIComponentSafely(inPath);
}

function decodeURIComponentSafely(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
