/**
 * Prepares a native request for the upstream: a checked path, a query without keys, headers from an
 * allow-list.
 */

import { createHmac } from "node:crypto";
import { type ClientRequest, GatewayError, type NativeApi } from "@sluice/contract";

/**
 * Request headers that every API receives. The list has no credentials, cookies, forwarding or
 * hop-by-hop headers, so none can leak under a new name. A provider declares the headers of its own
 * API.
 */
const FORWARDED = ["accept", "anthropic-beta", "anthropic-version", "content-type", "openai-beta"];

/** The header by which an upstream recognises a repeat. */
const REPEAT_HEADER = "idempotency-key";

/** Query parameters in which clients send keys. */
const KEY_PARAMETERS = new Set(["key", "api_key", "api-key", "access_token", "token"]);

const MAX_ENDPOINT_CHARACTERS = 2_048;

/** Encoded dots, backslashes and NUL, and characters that URL parsers read differently. */
const SUSPICIOUS = /(?:^|\/)\.{1,2}(?:\/|$)|\/\/|[\\;#\s]|%(?:2e|5c|00|25)|[^\x21-\x7e]/i;
const ENCODED_SLASH = /%2f/i;

/**
 * The native path, as the client wrote it. Throws `invalid_field` for one that could leave the
 * provider's own address. Encoded slashes are left to {@link checkSlashes}, because some endpoints
 * have them in the name of a model.
 */
export function nativeEndpoint(client: ClientRequest): string {
  const endpoint = client.parameters.endpoint ?? "";
  if (
    endpoint === "" ||
    endpoint.length > MAX_ENDPOINT_CHARACTERS ||
    SUSPICIOUS.test(`/${endpoint}`)
  )
    throw unsafePath();
  return endpoint;
}

/** Throws `invalid_field` for an encoded slash outside a model name that may have one. */
export function checkSlashes(endpoint: string, areDeclared: boolean): void {
  if (!areDeclared && ENCODED_SLASH.test(endpoint)) throw unsafePath();
}

function unsafePath(): GatewayError {
  return new GatewayError(
    "invalid_field",
    "The path of a passthrough request may not hold dot segments, empty segments or encoded slashes.",
  );
}

/**
 * The query without keys: the credential of the call is the provider's. Some upstreams end a
 * parameter at a semicolon too.
 */
export function nativeQuery(query: string): string {
  if (query === "") return "";
  return query
    .split("&")
    .filter((pair) => !pair.split(";").some((part) => KEY_PARAMETERS.has(nameOf(part))))
    .join("&");
}

function nameOf(pair: string): string {
  return decodeURIComponentSafely(pair.split("=")[0] ?? "")
    .trim()
    .toLowerCase();
}

/** The parameters of a query, with names in lower case. Some upstreams end one at a semicolon. */
export function queryPairs(query: string): readonly { name: string; value: string }[] {
  return query.split(/[&;]/).map((pair) => {
    const value = pair.split("=").slice(1).join("=").replaceAll("+", " ");
    return { name: nameOf(pair), value: decodeURIComponentSafely(value) };
  });
}

/**
 * The forwarded headers. `keyId` separates the repeats of keys, which all share the provider's
 * account.
 */
export function nativeHeaders(
  client: ClientRequest,
  keyId: string,
  api: NativeApi | undefined,
): Record<string, string> {
  // A compressed reply cannot be searched for the credential.
  const headers: Record<string, string> = { "user-agent": "sluice", "accept-encoding": "identity" };
  for (const name of nativeHeaderNames(api)) {
    const value = client.header(name);
    if (value !== undefined) headers[name] = value;
  }
  const repeat = client.header(REPEAT_HEADER);
  if (repeat !== undefined)
    headers[REPEAT_HEADER] = createHmac("sha256", keyId).update(repeat).digest("base64url");
  return headers;
}

/** The names of forwarded headers that may change an API's answer. */
export function nativeHeaderNames(api: NativeApi | undefined): readonly string[] {
  return [...FORWARDED, ...(api?.requestHeaders ?? [])];
}

/** The model in a path of no declared endpoint, by the word before it; empty when there is none. */
export function markedModel(path: string): string {
  const [, found] = /(?:^|\/)(?:models|deployments|engines|model)\/([^/:]+)/.exec(path) ?? [];
  return found === undefined ? "" : decodeURIComponentSafely(found);
}

/** The text as it stands where a percent code is not valid. */
export function decodeURIComponentSafely(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
