/**
 * Headers that a request may have once only. With two, this gateway and the next could read
 * different ones.
 */

import type { IncomingMessage } from "node:http";
import { gatewaysPassed } from "@sluice/runtime/transport";
import { GatewayError } from "@sluice/contract";

/** Maximum of these gateways that a request may pass. More are a loop. */
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
 * Throws `invalid_header` for a repeated header of this list, for an HTTP/1.1 request without a
 * host, and for a request that has passed more than five gateways. `keyHeaders`: further headers
 * that carry a key.
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
  // As many names as headers: none is repeated.
  if (Object.keys(message.headers).length * 2 === rawHeaders.length) return;
  const seen = new Set<string>();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] ?? "").toLowerCase();
    if (seen.has(name) && (SINGLE.has(name) || keyHeaders.includes(name))) {
      throw new GatewayError("invalid_header", `The header ${name} is repeated. Send it once.`, {
        param: name,
      });
    }
    seen.add(name);
  }
}
