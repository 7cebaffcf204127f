/** The one key that a request presents in its headers. */

import type { IncomingHttpHeaders } from "node:http";

/**
 * The key in `authorization` (`Bearer …`) or in one of the named headers (lower case). Returns
 * `undefined` for no key, for an `authorization` of another form and for two keys that differ.
 */
export function presentedKey(
  headers: IncomingHttpHeaders,
  names: readonly string[],
): string | undefined {
  const presented = new Set<string | undefined>();
  for (const name of names) {
    const value = headers[name];
    if (value !== undefined) presented.add(String(value).replace(/^Bearer\s+/i, ""));
  }
  const { authorization } = headers;
  if (authorization !== undefined) presented.add(/^Bearer\s+(\S+)\s*$/i.exec(authorization)?.[1]);
  const [key] = presented;
  return presented.size === 1 && key !== "" ? key : undefined;
}
