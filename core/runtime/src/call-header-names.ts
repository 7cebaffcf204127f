/** Names of headers that only the gateway or the provider sets on an upstream call. */

const NAME = /^[a-z0-9][a-z0-9!#$%&'*+.^_`|~-]{0,127}$/;

/**
 * Headers of the connection, of framing, of forwarding, and credentials: only the gateway or the
 * provider sets them.
 */
const REFUSED: ReadonlySet<string> = new Set([
  "accept-encoding",
  "api-key",
  "authorization",
  "connection",
  "cookie",
  "expect",
  "forwarded",
  "host",
  "keep-alive",
  "set-cookie",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "via",
  "x-api-key",
  "x-goog-api-key",
  "x-real-ip",
]);
const REFUSED_FAMILIES = ["content-", "proxy-", "x-amz-", "x-forwarded-", "x-sluice-"];

/** Whether a header, by its lower-case name, may be added to an upstream call. */
export function mayBeCallHeader(name: string): boolean {
  return (
    NAME.test(name) &&
    !REFUSED.has(name) &&
    !REFUSED_FAMILIES.some((family) => name.startsWith(family))
  );
}
