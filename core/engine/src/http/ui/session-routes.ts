/**
 * Signing in and out: `POST`, `GET` and `DELETE /ui/session`, `POST /ui/code`, and `POST /ui/key`.
 */

import type { IncomingMessage } from "node:http";
import { ADMIN_API } from "@sluice/admin-api";
import { GatewayError, type JsonObject, POLICY, type PolicyAction, ROLES } from "@sluice/contract";
import { authenticate, type Recognition } from "../access/authenticate.ts";
import type { Audit } from "../access/audit.ts";
import { type Principal, visibleTo } from "../access/may.ts";
import { presentedKey } from "../intake/presented-key.ts";
import type { SignInAttempts } from "./attempts.ts";
import { type BrowserPlace, cookieAt, setCookie } from "./browser-place.ts";
import { refuseForeignWrite, sessionOf, tokenOf } from "./recognize.ts";
import type { OpenSession, Sessions } from "./sessions.ts";

/** What the routes are made from. */
export interface SessionRouteParts {
  readonly sessions: Sessions;
  readonly attempts: SignInAttempts;
  readonly recognition: Recognition;
  readonly audit: Audit;
}

/** A request to one of the routes. */
export interface SessionRequest {
  readonly message: IncomingMessage;
  /** Absent: the listener is not one of browsers. */
  readonly place: BrowserPlace | undefined;
  readonly address: string | null;
  readonly requestId: string;
  readonly readBody: () => Promise<JsonObject>;
}

/** An answer, with its headers. */
export interface SessionAnswer {
  readonly body: JsonObject;
  readonly headers: Readonly<Record<string, string>>;
}

type Handler = (request: SessionRequest, parts: SessionRouteParts) => Promise<SessionAnswer>;

const ROUTES: Readonly<Record<string, Readonly<Record<string, Handler>>>> = {
  "/ui/session": { POST: signIn, GET: show, HEAD: show, DELETE: signOut },
  "/ui/code": { POST: makeCode },
  "/ui/key": { POST: confirmKey },
};

/** Answers a request to one of the routes; `undefined`: its path is another. */
export function answerSession(
  path: string,
  request: SessionRequest,
  parts: SessionRouteParts,
): Promise<SessionAnswer> | undefined {
  const route = ROUTES[path];
  if (route === undefined) return undefined;
  const handler = route[request.message.method ?? ""];
  if (handler !== undefined) return handler(request, parts);
  const allow = Object.keys(route).join(", ");
  throw new GatewayError("method_not_allowed", `This path takes ${allow}.`, { headers: { allow } });
}

/** Opens a session with `key` or with `code`. Every wrong one has the same answer. */
async function signIn(request: SessionRequest, parts: SessionRouteParts): Promise<SessionAnswer> {
  const { message, address } = request;
  const { sessions, attempts, audit } = parts;
  const place = privatePlace(request);
  refuseForeignWrite(message, place);
  attempts.check(address);
  const { key, code } = await request.readBody();
  const opened =
    typeof key === "string" && code === undefined
      ? await sessions.open(key, address)
      : typeof code === "string" && key === undefined
        ? await sessions.openByCode(code, address)
        : undefined;
  if (opened === undefined) {
    attempts.fail(address);
    throw new GatewayError(
      "authentication_failed",
      "This opens no session. Send the master key, an admin key of a person who has a role, or a code of `sluice ui` that is new. Service accounts have no sessions.",
    );
  }
  await audit.signed(asker(request, opened.principal, "session.open"));
  const cookie = setCookie(cookieAt(place), opened.token, sessions.maxAgeS);
  return { body: view(opened), headers: { "set-cookie": cookie } };
}

async function show(request: SessionRequest, parts: SessionRouteParts): Promise<SessionAnswer> {
  return { body: view(await present(request, parts)), headers: {} };
}

async function signOut(request: SessionRequest, parts: SessionRouteParts): Promise<SessionAnswer> {
  const { principal } = await present(request, parts);
  const place = privatePlace(request);
  await parts.sessions.end(tokenOf(request.message, place) ?? "");
  await parts.audit.signed(asker(request, principal, "session.end"));
  return {
    body: { signed_out: true },
    headers: {
      "set-cookie": setCookie(cookieAt(place), "", 0),
      "clear-site-data": '"cache", "storage"',
    },
  };
}

/** A code for the holder of the master key, who is on this machine. */
async function makeCode(request: SessionRequest, parts: SessionRouteParts): Promise<SessionAnswer> {
  const { message, address } = request;
  const { sessions, recognition, audit } = parts;
  const principal = await authenticate(message.headers, recognition);
  const key = presentedKey(message.headers, recognition.headerNames);
  if (principal.kind !== "master" || key === undefined)
    throw new GatewayError("permission_denied", "Only the master key makes codes.");
  if (address === null || !/^(?:(?:::ffff:)?127\.|::1$)/.test(address))
    throw new GatewayError(
      "permission_denied",
      "Codes are made on the gateway's own machine. Sign in with a key instead.",
    );
  const code = await sessions.makeCode(key, address);
  await audit.signed(asker(request, principal, "session.code"));
  return { body: { code, expires_in_s: 60 }, headers: {} };
}

/** Takes the key of the session again, for changes that are dangerous. */
async function confirmKey(
  request: SessionRequest,
  parts: SessionRouteParts,
): Promise<SessionAnswer> {
  const { message, address } = request;
  const { sessions, attempts, audit } = parts;
  const { principal } = await present(request, parts);
  attempts.check(address);
  const { key } = await request.readBody();
  const token = tokenOf(message, privatePlace(request)) ?? "";
  const confirmed = typeof key === "string" ? await sessions.confirm(token, key) : undefined;
  if (confirmed === undefined) {
    attempts.fail(address);
    throw new GatewayError(
      "permission_denied",
      "This is not the key that opened the session. After a sign-in by code, it is the master key.",
    );
  }
  await audit.signed(asker(request, principal, "session.confirm"));
  const expiresAt = new Date(confirmed.untilMs).toISOString();
  return { body: { confirmation: confirmed.value, expires_at: expiresAt }, headers: {} };
}

async function present(request: SessionRequest, parts: SessionRouteParts): Promise<OpenSession> {
  const { message, place } = request;
  const token = tokenOf(message, place);
  if (token === undefined || place === undefined)
    throw new GatewayError("authentication_failed", "There is no session. Sign in.");
  return sessionOf(message, place, token, parts.sessions, parts.recognition);
}

function privatePlace({ place }: SessionRequest): BrowserPlace {
  if (place?.isPrivate === true) return place;
  throw new GatewayError(
    "permission_denied",
    "Sessions need TLS, or the loopback address: set server.tls, or server.admin.public_url to the https:// origin of the proxy in front.",
  );
}

function asker(
  { requestId, address }: SessionRequest,
  principal: Principal,
  action: "session.open" | "session.end" | "session.code" | "session.confirm",
) {
  return { principal, action, requestId, address };
}

/** What a page shows of a session. `may` lists the actions that it may do somewhere. */
function view({ principal, csrf, expiresAtMs, id }: OpenSession): JsonObject {
  const { kind, roles, userId } = principal;
  const strongest = ROLES.findLast((role) => roles.some((grant) => grant.role === role));
  const actions = Object.keys(POLICY) as PolicyAction[];
  return {
    session: id,
    role: kind === "master" ? "admin" : (strongest ?? null),
    name: userId ?? principal.keyId,
    roles: roles.map(({ role, place }) => ({
      role,
      at: "id" in place ? `${place.kind}:${place.id}` : place.kind,
    })),
    may: actions.filter((action) => visibleTo(principal, action) !== undefined),
    csrf,
    expires_at: new Date(expiresAtMs).toISOString(),
    admin_api: ADMIN_API,
  };
}
