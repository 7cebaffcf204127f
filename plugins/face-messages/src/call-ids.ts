/**
 * Ids of calls. Upstreams use any characters, Anthropic's are of `[a-zA-Z0-9_-]` (the API's own
 * error: "String should match pattern '^[a-zA-Z0-9_-]+$'"). Other ids are encoded, and read back
 * when the client returns them.
 */

const ALLOWED = /^[a-zA-Z0-9_-]+$/;
const PREFIX = "encoded_";

/** The id that the client gets. */
export function clientCallId(id: string): string {
  return ALLOWED.test(id) && !id.startsWith(PREFIX)
    ? id
    : `${PREFIX}${Buffer.from(id, "utf8").toString("base64url")}`;
}

/** The id of the upstream for one that the client returns. */
export function upstreamCallId(id: string): string {
  if (!id.startsWith(PREFIX)) return id;
  const decoded = Buffer.from(id.slice(PREFIX.length), "base64url").toString("utf8");
  return clientCallId(decoded) === id && decoded !== "" ? decoded : id;
}
