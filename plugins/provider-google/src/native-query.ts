/**
 * Google's system parameters (cloud.google.com/apis/docs/system-parameters): some of them change
 * the kind of a call, or the members of its reply.
 */

import type { PassthroughRequest } from "@sluice/contract";

/**
 * A selection of the reply's members leaves out its usage; headers, methods and the content type in
 * the query pass by what was checked; a token is a credential.
 */
const DROPPED: ReadonlySet<string> = new Set([
  "$ct",
  "fields",
  "$fields",
  "$httpheaders",
  "$httpmethod",
  "oauth_token",
]);

/** A native request without them. A read may select members: it is not billed. */
export function withoutSystemParameters(request: PassthroughRequest): PassthroughRequest {
  const { method, query } = request;
  if (query === "") return request;
  const kept = query
    .split("&")
    .filter((pair) => !pair.split(";").some((part) => isDropped(nameOf(part), method)));
  return { ...request, query: kept.join("&") };
}

function isDropped(name: string, method: string): boolean {
  return DROPPED.has(name) && !(method === "GET" && name.endsWith("fields"));
}

function nameOf(pair: string): string {
  const [name = ""] = pair.split("=", 1);
  try {
    return decodeURIComponent(name).trim().toLowerCase();
  } catch {
    return name.trim().toLowerCase();
  }
}
