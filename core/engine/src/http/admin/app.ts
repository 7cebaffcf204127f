/** The admin listener's Koa app: the caller, the policy, the route. */

import type { IncomingMessage, ServerResponse } from "node:http";
import { createRequire } from "node:module";
import type { RouterContext } from "@koa/router";
import Koa from "koa";
import {
  type Clock,
  type EdgeAnswer,
  errorBody,
  GatewayError,
  isGatewayError,
  type JsonObject,
  type Log,
} from "@sluice/contract";
import { refusal, RequestAccess } from "../access/access.ts";
import { DetailedError } from "./detailed-error.ts";
import { checkDescribed } from "../access/described.ts";
import type { Audit } from "../access/audit.ts";
import type { Grants } from "../access/grants.ts";
import { type Forwarded, forwardedBy } from "../access/forwarded.ts";
import type { Principal } from "../access/may.ts";
import { isInside } from "../extensions/inside.ts";
import { readBody } from "../ingress/bytes/body.ts";
import { checkMediaType, readJson } from "../ingress/bytes/json.ts";
import { clientHint } from "../intake/other-listener.ts";
import { requestId } from "../intake/request-id.ts";
import { shuttingDown } from "../listener/shutting-down.ts";
import { MASTER, type Recognition } from "../access/authenticate.ts";
import { type AdminRoute, type AdminRoutes, StreamAnswer, TextAnswer } from "../access/route.ts";

import { type BrowserPlace, type BrowserSettings, browserPlace } from "../ui/browser-place.ts";
import { etagOf, matchesTag } from "../ui/etag.ts";
import { answerFile, type FileAnswer, fileRequest, isUiPath } from "../ui/files.ts";
import { recognize, tokenOf } from "../ui/recognize.ts";
import { answerSession, type SessionRouteParts } from "../ui/session-routes.ts";

// As CommonJS: its other form imports `node:http` (../node-http.ts).
const { Router } = createRequire(import.meta.url)("@koa/router") as typeof import("@koa/router");

const JSON_TYPE = { "content-type": "application/json; charset=utf-8" };
const BODY_LIMITS = { maxBytes: 1024 * 1024, deadlineMs: 10_000 };

/** The parts of the process that the app needs. */
export interface AdminParts extends Recognition {
  /**
   * Whether the process is shutting down: routes that read still answer, routes that change refuse.
   */
  readonly isStopping: () => boolean;
  readonly audit: Audit;
  readonly grants: Grants;
  readonly sessions: Pick<SessionRouteParts, "sessions" | "attempts">;
  /**
   * What `Host` may name. Absent: the listener is reached by the supervisor alone, which has
   * checked it.
   */
  readonly browser?: BrowserSettings;
  /** What proves that a request is passed on by the supervisor: `supervisorProof`. */
  readonly proof: string;
  readonly clock: Clock;
  readonly log: Log;
  /** The route of an extension for a method and a path. Absent: there are no extensions. */
  readonly extension?: (method: string, path: string) => ExtensionAnswer | undefined;
}

interface State {
  principal: Principal;
  requestId: string;
  forwarded: Forwarded | undefined;
  isConfirmed: boolean;
}

/** A request to a route of an extension. */
export interface ExtensionCall {
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: JsonObject;
  readonly principal: Principal;
}

/** The route of an extension that a request has. */
export interface ExtensionAnswer {
  readonly readsBody: boolean;
  /** Answers, or throws the refusal of the policy. */
  run(request: ExtensionCall): Promise<EdgeAnswer>;
}

/** The app of a set of routes. A route of GET answers HEAD as well. */
export function createAdminApp(parts: AdminParts, routes: AdminRoutes): Koa {
  const router = new Router({ sensitive: true, strict: true });
  for (const [name, route] of Object.entries(routes)) {
    const [method = "", path = ""] = name.split(" ");
    router.register(path, [method], (ctx) => answer(ctx, name, route, parts));
  }
  const app = new Koa();
  app.on("error", (error: unknown) => parts.log.error("the admin app failed", { error }));
  app.use(async (ctx, next) => {
    const id = requestId(parts.clock.now());
    ctx.set("x-request-id", id);
    ctx.set("cache-control", "no-store");
    ctx.set("x-content-type-options", "nosniff");
    try {
      const forwarded = forwardedBy(ctx.headers, parts.proof);
      const place = placeOf(ctx.req, forwarded, parts);
      if (parts.browser !== undefined && isUiPath(ctx.path) && !isInside(ctx.req)) {
        writeFile(ctx, await answerFile(fileRequest(ctx.req, ctx.path)));
        return;
      }
      const isMaster = forwarded?.isMaster === true;
      const session = isInside(ctx.req) ? undefined : answerSessionOf(ctx, id, place, parts);
      if (session !== undefined) {
        const { body, headers } = await session;
        ctx.set(headers);
        ctx.body = body;
        return;
      }
      const { sessions } = parts.sessions;
      const principal = isMaster ? MASTER : await recognize(ctx.req, place, sessions, parts);
      if (isChange(ctx.method) && parts.isStopping()) throw shuttingDown();
      const isConfirmed =
        principal.session === undefined ||
        sessions.isConfirmed(tokenOf(ctx.req, place) ?? "", ctx.get("x-sluice-confirmation"));
      ctx.state = { principal, requestId: id, forwarded, isConfirmed } satisfies State;
      await next();
    } catch (error) {
      writeFailure(ctx, error, parts.log);
    }
  });
  app.use(async (ctx, next) => {
    // An extension's calls carry a key: a session has none, and its page speaks the own form.
    const isOwn =
      isInside(ctx.req) ||
      ctx.get("x-sluice-routes") === "own" ||
      (ctx.state as State).principal.session !== undefined;
    const found = isOwn ? undefined : parts.extension?.(ctx.method, ctx.path);
    if (found === undefined) await next();
    else await answerExtension(ctx, found);
  });
  app.use(router.routes());
  app.use(refuseUnmatched);
  return app;
}

/** Where a browser sees the listener. A request from inside has no browser's connection. */
function placeOf(
  request: IncomingMessage,
  forwarded: Forwarded | undefined,
  { browser }: AdminParts,
): BrowserPlace | undefined {
  if (browser === undefined || isInside(request)) return forwarded?.place;
  return browserPlace(request, browser);
}

function answerSessionOf(
  ctx: Koa.Context,
  requestId: string,
  place: BrowserPlace | undefined,
  parts: AdminParts,
) {
  const forwarded = forwardedBy(ctx.headers, parts.proof);
  const address =
    forwarded === undefined ? (ctx.req.socket.remoteAddress ?? null) : forwarded.address;
  const { audit } = parts;
  return answerSession(
    ctx.path,
    { message: ctx.req, place, address, requestId, readBody: () => bodyOf(ctx) },
    { ...parts.sessions, recognition: parts, audit },
  );
}

async function answer(
  ctx: RouterContext,
  name: string,
  route: AdminRoute,
  { audit, grants }: AdminParts,
): Promise<void> {
  const { principal, requestId: id, forwarded, isConfirmed } = ctx.state as State;
  const query = ctx.URL.searchParams;
  const body = isChange(ctx.method) ? await bodyOf(ctx) : {};
  const request = {
    query,
    parameters: ctx.params,
    body,
    checkForm: () => checkDescribed(name, { query, body }),
    principal,
    action: route.action,
    requestId: id,
    address: forwarded === undefined ? (ctx.req.socket.remoteAddress ?? null) : forwarded.address,
    audit,
    grants,
    isForwarded: forwarded !== undefined,
    isConfirmed,
    isAudited: forwarded?.isAudited === true,
    whenLeft: () => leftSignal(ctx.res),
  };
  const access = new RequestAccess(request);
  try {
    const result = await route.answer(request, access);
    if (result instanceof StreamAnswer) passOn(ctx, result);
    else writeResult(ctx, result);
  } catch (error) {
    const isRefused = isGatewayError(error) && error.code === "permission_denied";
    if (isRefused || access.refused !== undefined) await audit.refused(request, access.refused);
    throw error;
  }
}

/** Aborts when a client closes its connection before its answer is complete. */
function leftSignal(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  const left = (): void => {
    if (!response.writableFinished)
      controller.abort(new GatewayError("client_closed", "The client closed the connection."));
  };
  if (response.destroyed) left();
  else response.once("close", left);
  return controller.signal;
}

/** Writes an answer as it comes. A client that leaves ends it; one that reads slowly slows it. */
function passOn(ctx: RouterContext, { status, headers, body, close }: StreamAnswer): void {
  ctx.set(headers);
  ctx.status = status;
  if (ctx.res.destroyed) {
    close();
    return;
  }
  ctx.res.once("close", close);
  ctx.body = body;
}

function isChange(method: string): boolean {
  return method !== "GET" && method !== "HEAD";
}

/** Writes an answer. What is read again and again has a tag: 304 says that it did not change. */
function writeResult(ctx: RouterContext, result: unknown): void {
  const isText = result instanceof TextAnswer;
  const text = isText ? result.text : JSON.stringify(result);
  ctx.set(isText ? { ...result.headers, "content-type": result.type } : JSON_TYPE);
  ctx.body = text;
  if (isChange(ctx.method)) return;
  const etag = etagOf(text);
  ctx.set("etag", etag);
  if (!matchesTag(ctx.headers["if-none-match"], etag)) return;
  ctx.status = 304;
  ctx.body = null;
}

function writeFile(ctx: Koa.Context, { status, headers, body }: FileAnswer): void {
  ctx.set(headers);
  ctx.status = status;
  // A string would get a type of its own.
  ctx.body = Buffer.from(body);
}

/** Answers by an extension. What it does, it does by the routes of this listener, as the caller. */
async function answerExtension(ctx: Koa.Context, answer: ExtensionAnswer): Promise<void> {
  const hasBody = ctx.method !== "GET" && ctx.method !== "HEAD" && answer.readsBody;
  const body = hasBody ? await bodyOf(ctx) : {};
  const { principal } = ctx.state as State;
  const { req: message, res: response } = ctx;
  const { status, body: value } = await answer.run({ message, response, body, principal });
  ctx.status = status;
  ctx.set("content-type", "application/json");
  ctx.body = JSON.stringify(value);
}

/** Refuses a request that matches no route. `matched` are the path's routes for other methods. */
function refuseUnmatched(
  ctx: Koa.ParameterizedContext<Koa.DefaultState, Partial<RouterContext>>,
): never {
  const { principal } = ctx.state as State;
  if (principal.kind === "read_key") throw refusal(principal, "config.read");
  // The rest of a path is never empty where it begins.
  const isPath = !ctx.path.includes("//");
  const methods = new Set(isPath ? ctx.matched?.flatMap((route) => route.methods) : []);
  if (methods.size === 0)
    throw new GatewayError(
      "route_not_found",
      `This path does not exist on the admin listener. ${clientHint(ctx.path) ?? "docs/administration.md lists the routes."}`,
    );
  const allow = [...methods].join(", ");
  throw new GatewayError("method_not_allowed", `This path takes ${allow}.`, { headers: { allow } });
}

async function bodyOf(ctx: Koa.Context): Promise<JsonObject> {
  const bytes = await readBody(ctx.req, BODY_LIMITS);
  if (bytes.length === 0) return {};
  checkMediaType(ctx.req);
  return readJson(bytes).value;
}

function writeFailure(ctx: Koa.Context, error: unknown, log: Log): void {
  if (!isGatewayError(error)) log.error("an admin request failed", { path: ctx.path, error });
  const failure = isGatewayError(error) ? error : failureOf(error);
  ctx.status = failure.status;
  for (const [name, value] of Object.entries(failure.headers ?? {})) ctx.set(name, value);
  if (failure.retryAfterMs !== undefined)
    ctx.set("retry-after", String(Math.max(1, Math.ceil(failure.retryAfterMs / 1_000))));
  ctx.body = { ...errorBody(failure), ...(failure instanceof DetailedError && failure.details) };
}

/** What a caller reads of an error that is none of the gateway's. */
function failureOf(error: unknown): GatewayError {
  // The reason of `AbortSignal.timeout`, which bounds what routes read.
  if (error instanceof DOMException && error.name === "TimeoutError")
    return new GatewayError(
      "deadline_exceeded",
      "The answer was not ready in time. Ask for less, or once more: the store is busy or away.",
    );
  return new GatewayError(
    "internal_error",
    "The gateway failed on this request. Its log has the cause.",
  );
}
