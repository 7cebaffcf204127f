/**
 * The admin listener's Koa app. The master key opens every route; a read key opens three of them.
 */

import { createRequire } from "node:module";
import type { RouterContext } from "@koa/router";
import Koa from "koa";
import {
  type Clock,
  errorBody,
  GatewayError,
  isGatewayError,
  type JsonObject,
  type Log,
  type Secret,
} from "@sluice/contract";
import type { KeyRing } from "../../resources/key-ring.ts";
import { readBody } from "../ingress/bytes/body.ts";
import { checkMediaType, readJson } from "../ingress/bytes/json.ts";
import { presentedKey } from "../intake/presented-key.ts";
import { requestId } from "../intake/request-id.ts";
import { shuttingDown } from "../listener/shutting-down.ts";
import { authenticate } from "./authenticate.ts";

// As CommonJS: its other form imports `node:http` (../node-http.ts).
const { Router } = createRequire(import.meta.url)("@koa/router") as typeof import("@koa/router");

/** A request to an admin route. */
export interface AdminRequest {
  readonly query: URLSearchParams;
  readonly parameters: Readonly<Record<string, string>>;
  /** The body of a POST, an empty object for other methods. */
  readonly body: JsonObject;
}

/** An answer other than JSON. */
export class TextAnswer {
  readonly type: string;
  readonly text: string;

  constructor(type: string, text: string) {
    this.type = type;
    this.text = text;
  }
}

/** Answers an admin request with a JSON value, or a text with a type of its own. */
export type AdminHandler = (request: AdminRequest) => Promise<unknown>;

/**
 * Admin routes as `METHOD /path`, with the parameters of `@koa/router`: `:name` is a segment,
 * `*name` one or more.
 */
export type AdminRoutes = Readonly<Record<string, AdminHandler>>;

const BODY_LIMITS = { maxBytes: 1024 * 1024, deadlineMs: 10_000 };

/** The parts of the process that the app needs. */
export interface AdminParts {
  readonly keyRing: KeyRing;
  /** Lower-case names of headers, besides `authorization`, that carry a key. */
  readonly headerNames: readonly string[];
  /**
   * Whether the process is shutting down: routes that read still answer, routes that change refuse.
   */
  readonly isStopping: () => boolean;
  /** The key for metrics and status alone; `undefined` without one. */
  readonly readKey: () => Secret | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** The app of a set of routes. A route of GET answers HEAD as well. */
export function createAdminApp(parts: AdminParts, routes: AdminRoutes): Koa {
  const router = new Router({ sensitive: true, strict: true });
  for (const [route, handler] of Object.entries(routes)) {
    const [method = "", path = ""] = route.split(" ");
    router.register(path, [method], (ctx) => answer(ctx, handler));
  }
  const app = new Koa();
  app.on("error", (error: unknown) => parts.log.error("the admin app failed", { error }));
  app.use(async (ctx, next) => {
    ctx.set("x-request-id", requestId(parts.clock.now()));
    ctx.set("cache-control", "no-store");
    ctx.set("x-content-type-options", "nosniff");
    try {
      await authorize(ctx, parts);
      await next();
    } catch (error) {
      writeFailure(ctx, error, parts.log);
    }
  });
  app.use(router.routes());
  app.use(refuseUnmatched);
  return app;
}

/**
 * Throws for an unknown key, for a route outside the read key's, and for a change during the
 * shutdown.
 */
async function authorize(ctx: Koa.Context, parts: AdminParts): Promise<void> {
  const method = ctx.method === "HEAD" ? "GET" : ctx.method;
  const isRead = isReadKey(ctx, parts);
  if (isRead && !READABLE.has(`${method} ${ctx.path}`))
    throw new GatewayError("permission_denied", READ_KEY_REFUSAL);
  if (!isRead) await authenticate(ctx.headers, parts.headerNames, parts.keyRing);
  if (method === "POST" && parts.isStopping()) throw shuttingDown();
}

async function answer(ctx: RouterContext, handler: AdminHandler): Promise<void> {
  const body = ctx.method === "POST" ? await bodyOf(ctx) : {};
  const result = await handler({ query: ctx.URL.searchParams, parameters: ctx.params, body });
  if (result instanceof TextAnswer) ctx.set("content-type", result.type);
  ctx.body = result instanceof TextAnswer ? result.text : result;
}

/** Refuses a request that matches no route. `matched` are the path's routes for other methods. */
function refuseUnmatched(
  ctx: Koa.ParameterizedContext<Koa.DefaultState, Partial<RouterContext>>,
): never {
  const methods = new Set(ctx.matched?.flatMap((route) => route.methods));
  if (methods.size === 0)
    throw new GatewayError(
      "route_not_found",
      "This path does not exist on the admin listener. docs/administration.md lists the routes.",
    );
  const allow = [...methods].join(", ");
  throw new GatewayError("method_not_allowed", `This path takes ${allow}.`, { headers: { allow } });
}

/** The routes that `server.admin.read_key` opens. */
const READABLE: ReadonlySet<string> = new Set([
  "GET /metrics",
  "GET /config/status",
  "GET /deployments",
]);
const READ_KEY_REFUSAL =
  "The key in server.admin.read_key reads GET /metrics, /config/status and /deployments only.";

function isReadKey(
  { headers }: Koa.Context,
  { readKey, headerNames, keyRing }: AdminParts,
): boolean {
  const known = readKey();
  const key = known === undefined ? undefined : presentedKey(headers, headerNames);
  // Digests are compared, so that the duration reveals nothing about the key.
  return (
    known !== undefined &&
    key !== undefined &&
    keyRing.fingerprint(key) === keyRing.fingerprint(known.reveal())
  );
}

async function bodyOf(ctx: Koa.Context): Promise<JsonObject> {
  const bytes = await readBody(ctx.req, BODY_LIMITS);
  if (bytes.length === 0) return {};
  checkMediaType(ctx.req);
  return readJson(bytes).value;
}

function writeFailure(ctx: Koa.Context, error: unknown, log: Log): void {
  const known = isGatewayError(error);
  if (!known) log.error("an admin request failed", { path: ctx.path, error });
  const failure = known
    ? error
    : new GatewayError(
        "internal_error",
        "The gateway failed on this request. Its log has the cause.",
      );
  ctx.status = failure.status;
  for (const [name, value] of Object.entries(failure.headers ?? {})) ctx.set(name, value);
  if (failure.retryAfterMs !== undefined)
    ctx.set("retry-after", String(Math.max(1, Math.ceil(failure.retryAfterMs / 1_000))));
  ctx.body = errorBody(failure);
}
