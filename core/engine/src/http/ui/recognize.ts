/** The caller of the admin listener: by a key, or by the session of a browser; never by both. */

import type { IncomingMessage } from "node:http";
import { GatewayError } from "@sluice/contract";
import { authenticate, type Recognition } from "../access/authenticate.ts";
import type { Principal } from "../access/may.ts";
import { type BrowserPlace, cookieAt, cookieOf } from "./browser-place.ts";
import type { OpenSession, Sessions } from "./sessions.ts";

const READS: ReadonlySet<string | undefined> = new Set(["GET", "HEAD"]);

/**
 * The principal of a request. `place` is where its browser sees the listener; without it no cookie
 * is read. Throws `authentication_failed` and `permission_denied`.
 */
export async function recognize(
  request: IncomingMessage,
  place: BrowserPlace | undefined,
  sessions: Sessions,
  recognition: Recognition,
): Promise<Principal> {
  const token = tokenOf(request, place);
  if (token === undefined || place === undefined) return authenticate(request.headers, recognition);
  return (await sessionOf(request, place, token, sessions, recognition)).principal;
}

/** The cookie of a session. */
export function tokenOf(
  { headers }: IncomingMessage,
  place: BrowserPlace | undefined,
): string | undefined {
  return place && (cookieOf(headers.cookie, cookieAt(place).name) || undefined);
}

/** The session of a cookie, if the request is one of our own pages. */
export async function sessionOf(
  request: IncomingMessage,
  place: BrowserPlace,
  token: string,
  sessions: Sessions,
  { headerNames }: Pick<Recognition, "headerNames">,
): Promise<OpenSession> {
  const { headers, method } = request;
  if (["authorization", ...headerNames].some((name) => headers[name] !== undefined))
    throw new GatewayError(
      "authentication_failed",
      "The request has a key and the cookie of a session. Send one of them.",
    );
  const session = await sessions.find(token);
  if (session === undefined)
    throw new GatewayError("authentication_failed", "The session has ended. Sign in again.");
  if (READS.has(method)) refuseForeignRead(request);
  else refuseForeignWrite(request, place);
  if (!READS.has(method) && headers["x-sluice-csrf"] !== session.csrf)
    throw refused("The header x-sluice-csrf is not that of the session.");
  return session;
}

/**
 * Refuses a change that no page of this listener asks for. Throws `permission_denied`. The header
 * `Origin` cannot be set by a page (Fetch, forbidden request-headers).
 */
export function refuseForeignWrite({ headers }: IncomingMessage, { origin }: BrowserPlace): void {
  const { origin: given, "sec-fetch-site": site, "content-type": type } = headers;
  if (given !== origin)
    throw refused(
      `The header origin is not ${origin}. Where a proxy stands in front, set server.admin.public_url.`,
    );
  if (site !== undefined && site !== "same-origin")
    throw refused("The request comes from a page of another site.");
  if (!/^application\/json\s*(?:;|$)/i.test(type ?? ""))
    throw refused("A change of a session needs content-type: application/json.");
}

/** An address that is typed in has the site `none`. */
function refuseForeignRead({ headers }: IncomingMessage): void {
  const site = headers["sec-fetch-site"];
  if (site !== undefined && site !== "same-origin" && site !== "none")
    throw refused("The request comes from a page of another site.");
}

function refused(message: string): GatewayError {
  return new GatewayError("permission_denied", message);
}
