/** The upstream call of a native request. */

import type { HttpCall, PassthroughRequest, Secret } from "@sluice/spec";
import { nativeUrl } from "./native-url.ts";

/**
 * The call of a native request: method, path, query, headers and body are the client's, the address (see {@link nativeUrl}) and
 * the headers of the account the operator's. The account's come last: nothing that the client sent can stand in their place.
 */
export function nativeCall(
  { method, endpoint, query, headers, body }: PassthroughRequest,
  baseUrl: string,
  account: Readonly<Record<string, string | Secret>>,
  prefixes?: readonly string[],
): HttpCall {
  return { kind: "http", method, url: nativeUrl(baseUrl, endpoint, query, prefixes), headers: { ...headers, ...account }, body };
}
