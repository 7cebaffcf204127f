/** Paths of the other listener: a client has the port of administration, or the reverse. */

import { ADMIN_ROUTES } from "@sluice/admin-api";

/** First segments that are words of both listeners. */
const SHARED: ReadonlySet<string> = new Set(["models", "spend"]);

const ADMIN_PATHS: readonly string[] = [
  ...new Set(Object.keys(ADMIN_ROUTES).map((name) => name.slice(name.indexOf(" ") + 1))),
];
const ADMIN_SEGMENTS: ReadonlySet<string> = new Set(ADMIN_PATHS.map(firstSegment));

/** Paths that clients call, by their beginnings. */
const CLIENT_PATHS =
  /^\/(?:v\d+(?:alpha|beta)?|chat|completions|responses|embeddings|images|health|docs|openapi\.json|spend)(?:\/|$)/;

/** What to say of a path that the admin listener serves; `undefined` for another one. */
export function adminHint(path: string): string | undefined {
  const first = firstSegment(path);
  const isAdmin = SHARED.has(first) ? ADMIN_PATHS.includes(path) : ADMIN_SEGMENTS.has(first);
  return isAdmin
    ? "It is a path of the admin listener: `server.admin` of gateway.yaml, port 4001 unless that says otherwise."
    : undefined;
}

/** What to say, on the admin listener, of a path for clients; `undefined` for another one. */
export function clientHint(path: string): string | undefined {
  return CLIENT_PATHS.test(path)
    ? "It is a path of the listener for clients: `server.port` of gateway.yaml, 4000 unless that says otherwise."
    : undefined;
}

function firstSegment(path: string): string {
  return path.split("/", 2)[1] ?? "";
}
