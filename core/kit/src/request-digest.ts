/** A digest of what a request asks, to tell repeated requests from different ones. */

import { hash } from "node:crypto";
import type { GatewayRequest } from "@sluice/spec";

/** Of a longer body, its length, its beginning and its end are told apart. */
const DIGESTED = 65_536;

/** The digest of a request's body, in work that does not grow with a large body. Empty without a request. */
export function requestDigest(request: GatewayRequest | undefined): string {
  if (request === undefined) return "";
  const bytes = request.raw ?? request.document.bytes;
  const parts = bytes.length <= 2 * DIGESTED ? [bytes] : [bytes.slice(0, DIGESTED), bytes.slice(-DIGESTED)];
  return `${bytes.length} ${parts.map((part) => hash("sha256", part, "base64url")).join(" ")}`;
}
