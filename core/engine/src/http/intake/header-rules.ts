/** Headers that may stand once only: with two of them, this gateway and the next might each read another. */

import type { IncomingMessage } from "node:http";
import { gatewaysPassed } from "@sluice/runtime/transport";
import { GatewayError } from "@sluice/contract";

/** A request that has passed more of these gateways goes round between them. */
const MAX_GATEWAYS = 5;

const SINGLE = new Set([
  "host",
  "authorization",
  "content-type",
  "content-length",
  "content-encoding",
  "transfer-encoding",
  "expect",
  "api-key",
  "x-api-key",
  "x-goog-api-key",
]);

/**
 * Throws `invalid_header` for a header that stands twice and may not, and for an HTTP/1.1 request without a host, and for one that has
 * passed more than five gateways of this kind.
 * `keyHeaders`: further headers that carry a key.
 */
export function checkHeaders(message: IncomingMessage, keyHeaders: readonly string[]): void {
  const { rawHeaders } = message;
  if (gatewaysPassed(message.headers.via) > MAX_GATEWAYS) {
    const text = `The request has passed more than ${MAX_GATEWAYS} gateways of this kind: a provider's base_url leads back to the gateway.`;
    throw new GatewayError("invalid_header", text, { param: "via" });
  }
  if (message.headers.host === undefined && message.httpVersion === "1.1") {
    throw new GatewayError("invalid_header", "The header host is missing.", { param: "host" });
  }
  // As many names as headers: none stands twice.
  if (Object.keys(message.headers).length * 2 === rawHeaders.length) return;
  const seen = new Set<string>();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] ?? "").toLowerCase();
    if (seen.has(name) && (SINGLE.has(name) || keyHeaders.includes(name))) {
      throw new GatewayError("invalid_header", `The header ${name} stands twice; send it once.`, { param: name });
    }
    seen.add(name);
  }
}
