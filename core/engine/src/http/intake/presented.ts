/**
 * The identity that a request claims, before authentication. Use it to select, never to authorize.
 */

import type { IncomingMessage } from "node:http";

/** Headers that the SDKs of providers put a key into. */
const NATIVE_HEADERS: readonly string[] = ["api-key", "x-api-key", "x-goog-api-key"];

/** The presented key of any header, or else the client's address. */
export function presentedBy(
  { headers, socket }: IncomingMessage,
  headerNames: readonly string[],
): string {
  for (const name of [...headerNames, "authorization", ...NATIVE_HEADERS]) {
    const value = headers[name];
    if (typeof value === "string" && value !== "") return value.replace(/^Bearer\s+/i, "").trim();
  }
  return socket.remoteAddress ?? "";
}
