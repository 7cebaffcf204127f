/** Headers of a native reply that the client gets. */

import type { HttpCall, ProviderInstance } from "@sluice/contract";
import type { UpstreamResponse } from "@sluice/kit/internals";

/**
 * Headers of every API. Rate limits of a shared credential, cookies and server names are not among
 * them.
 */
const FORWARDED = [
  "content-type",
  "content-length",
  "content-encoding",
  "content-disposition",
  "retry-after",
  "request-id",
  "x-amzn-requestid",
  "x-amzn-errortype",
];

/**
 * Rate limits of the provider's account: Anthropic's names, and the common names, which the gateway
 * uses for the key's own limits.
 */
const RATE_LIMIT = /^(?:anthropic-ratelimit-|x-ratelimit-)/;

/** The headers of the reply to a call. `address` is the gateway's own address of the provider. */
export function nativeReplyHeaders(
  { headers }: UpstreamResponse,
  call: HttpCall,
  { translation: { native }, showsRateLimits }: ProviderInstance,
  address: string | undefined,
): Record<string, string> {
  const kept: Record<string, string> = { "x-content-type-options": "nosniff" };
  for (const name of [...FORWARDED, ...(native?.replyHeaders ?? [])]) {
    const value = headers[name];
    if (typeof value === "string") kept[name] = value;
  }
  for (const name of native?.addressHeaders ?? []) {
    const value = headers[name];
    const own =
      typeof value === "string"
        ? ownAddress(value, call.url, native?.root ?? "", address)
        : undefined;
    if (own !== undefined) kept[name] = own;
  }
  if (showsRateLimits !== true) return kept;
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === "string" && RATE_LIMIT.test(name))
      kept[name.replace(/^x-/, "x-upstream-")] = value;
  }
  return kept;
}

/**
 * Converts an address of the upstream to one of the gateway. One of another host is dropped: a
 * client would send its key there.
 */
function ownAddress(
  value: string,
  url: string,
  root: string,
  address: string | undefined,
): string | undefined {
  const origin = url.slice(0, url.indexOf("/", url.indexOf("//") + 2));
  const base = root === "" ? `${origin}/` : `${origin}/${root}/`;
  if (address === undefined || !value.startsWith(base)) return undefined;
  return `${address}/${value.slice(base.length)}`;
}
