/** The upstream call of a native request. */

import type { HttpCall, PassthroughRequest, Secret } from "@sluice/contract";
import { nativeUrl } from "./native-url.ts";

/**
 * The call of a native request. Method, path, query, headers and body are the client's; the address
 * (see {@link nativeUrl}) and the account's headers are the operator's. The account's headers come
 * last, so the client cannot replace them.
 */
export function nativeCall(
  { method, endpoint, query, headers, body }: PassthroughRequest,
  baseUrl: string,
  account: Readonly<Record<string, string | Secret>>,
  prefixes?: readonly string[],
): HttpCall {
  return {
    kind: "http",
    method,
    url: nativeUrl(baseUrl, endpoint, query, prefixes),
    headers: { ...headers, ...account },
    body,
  };
}
