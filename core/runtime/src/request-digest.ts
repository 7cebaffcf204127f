/** A digest of a request's content, to distinguish repeated requests from different ones. */

import { hash } from "node:crypto";
import type { GatewayRequest } from "@sluice/contract";

/** Of a longer body, only its length, beginning and end are digested. */
const DIGESTED = 65_536;

/** The digest of a request's body, in bounded time. Empty without a request. */
export function requestDigest(request: GatewayRequest | undefined): string {
  if (request === undefined) return "";
  const bytes = request.raw ?? (request.native ?? request).document.bytes;
  const parts =
    bytes.length <= 2 * DIGESTED ? [bytes] : [bytes.slice(0, DIGESTED), bytes.slice(-DIGESTED)];
  return `${bytes.length} ${parts.map((part) => hash("sha256", part, "base64url")).join(" ")}`;
}
