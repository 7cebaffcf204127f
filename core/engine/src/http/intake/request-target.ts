/** The request target: a path and a query in one unambiguous form. */

import { GatewayError } from "@sluice/contract";

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

/**
 * Reads the target of a request line. Throws `invalid_path` for absolute forms, empty and dot
 * segments, backslashes, fragments and escapes that hide any of them, and `target_too_long` for
 * more than 4 KiB.
 */
export function readTarget(url: string): RequestTarget {
  if (url.length > MAX_TARGET_CHARACTERS) throw tooLong();
  const mark = url.indexOf("?");
  const path = mark < 0 ? url : url.slice(0, mark);
  const query = mark < 0 ? "" : url.slice(mark + 1);
  if (!PLAIN_PATH.test(path) || path === "" || query.includes("#")) throw invalidPath();
  return { path, query, hasEncodedSlash: path.includes("%") && /%2f/i.test(path) };
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
