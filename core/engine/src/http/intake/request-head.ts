/**
 * The head of a request: its target in one unambiguous form, and headers that may stand once
 * only. With two, this gateway and the next could read different ones.
 */

import { GatewayError } from "@sluice/contract";
import type { IncomingMessage } from "node:http";
import { gatewaysPassed } from "@sluice/runtime/transport";

/** The target of a request. */
export interface RequestTarget {
  readonly path: string;
  /** Without the question mark. */
  readonly query: string;
  /** Whether a segment holds `%2f`: only ids may. */
  readonly hasEncodedSlash: boolean;
}

/**
 * Segments of at least one character, none of them `.` or `..`, and no escapes of control
 * characters, dots and backslashes. Every character belongs to one alternative only, so matching
 * takes linear time.
 */
const PLAIN_PATH =
  /^(?:\/(?!\.{1,2}(?:\/|$))(?:[\w\-.~!$&'()*+,;=:@]|%(?![01][0-9a-f]|7f|2e|5c)[0-9a-f]{2})+)*\/?$/i;

/** A request target is ASCII: its characters are its bytes. */
const MAX_TARGET_CHARACTERS = 4_096;

/** Checked targets. Clients use few, and a look-up costs a sixth of the check. */
const checked = new Map<string, RequestTarget>();
const MAX_CHECKED = 256;
const MAX_CHECKED_CHARACTERS = 128;

/**
 * Reads the target of a request line. Throws `invalid_path` for absolute forms, empty and dot
 * segments, backslashes, fragments and escapes that hide any of them, and `target_too_long` for
 * more than 4 KiB.
 */
export function readTarget(url: string): RequestTarget {
  const known = checked.get(url);
  if (known !== undefined) return known;
  if (url.length > MAX_TARGET_CHARACTERS) throw tooLong();
  const mark = url.indexOf("?");
  const path = mark < 0 ? url : url.slice(0, mark);
  const query = mark < 0 ? "" : url.slice(mark + 1);
  if (!PLAIN_PATH.test(path) || path === "" || query.includes("#")) throw invalidPath();
  const target = { path, query, hasEncodedSlash: path.includes("%") && /%2f/i.test(path) };
  // A query may hold what a client should not have sent: it is not kept.
  if (mark < 0 && url.length <= MAX_CHECKED_CHARACTERS) keep(url, target);
  return target;
}

function keep(url: string, target: RequestTarget): void {
  if (checked.size >= MAX_CHECKED) checked.clear();
  checked.set(url, target);
}

function tooLong(): GatewayError {
  const message = `The path and query are longer than ${MAX_TARGET_CHARACTERS} bytes. Send a shorter address.`;
  return new GatewayError("target_too_long", message);
}

/** The refusal of a path. */
export function invalidPath(): GatewayError {
  return new GatewayError(
    "invalid_path",
    "The path is not normalized. Send it without dot segments, empty segments, and escapes of slashes, dots or control characters.",
  );
}

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
