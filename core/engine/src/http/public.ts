/** The public listener's Koa app: health, the route table, one exchange a request. */

import type { IncomingMessage } from "node:http";
import Koa from "koa";
import { type ClientRequest, type Exchange, GatewayError } from "@sluice/spec";
import type { Generation } from "../generation/generation.ts";
import { LiveExchange } from "../pipeline/exchange.ts";
import { writeError } from "./egress/error.ts";
import { receiveRequest } from "./ingress/receive.ts";
import { requestId } from "./request-id.ts";
import { serveExchange, type ServeParts } from "./serve-exchange.ts";

/** What the public app needs of the process. */
export interface PublicParts extends ServeParts {
  /** The live generation; `undefined` before the first one and while shutting down. */
  readonly live: () => Generation | undefined;
  /** Whether requests can be admitted. */
  readonly isReady: () => boolean;
}

declare module "koa" {
  interface DefaultContext {
    /** The exchange of this request; set before any step runs. */
    exchange: Exchange;
  }
}

/** The app. Every response, errors included, is written by the egress; Koa's own is switched off. */
export function createPublicApp(parts: PublicParts): Koa {
  const app = new Koa();
  app.on("error", (error: unknown, ctx?: Koa.Context) => {
    // Koa reports a connection that broke as well. That is the client's doing, and its row tells it.
    if (ctx?.req.socket.errored !== error) parts.log.error("the public app failed", { error });
  });
  app.use((ctx) => {
    ctx.respond = false;
    return serve(ctx, parts);
  });
  return app;
}

async function serve(ctx: Koa.Context, parts: PublicParts): Promise<void> {
  const { req: message, res: response } = ctx;
  const id = requestId(parts.clock.now());
  const [path, query] = splitTarget(message.url ?? "/");
  const method = message.method ?? "GET";
  if (path.startsWith("/health/") && writeHealth(ctx, path, id, parts)) return;
  const generation = parts.live();
  if (generation === undefined) {
    const draining = new GatewayError("overloaded", "The gateway is shutting down.", {
      retryAfterMs: 1_000,
      headers: { connection: "close" },
    });
    writeError(response, draining, ["x-request-id", id]);
    return;
  }
  const match = generation.routes.find(method, path);
  if (match.kind !== "found") {
    writeError(response, match.kind === "none" ? noRoute() : wrongMethod(method, match.allow), ["x-request-id", id]);
    return;
  }
  const { value: route, parameters } = match;
  const client = clientRequest(message, method, path, query, parameters);
  const exchange = new LiveExchange({
    id,
    operation: route.operation,
    client,
    generation: generation.number,
    deadlineMs: route.deadlineMs,
    clock: parts.clock,
    read() {
      const { server, providers } = generation.snapshot;
      const isProvider = (name: string): boolean => providers.some((provider) => provider.name === name);
      return receiveRequest(route.operation, message, client, server.maxBodyBytes, isProvider);
    },
  });
  ctx.exchange = exchange;
  generation.lease(exchange);
  // The lease ends when the response is closed and the rows are settled, whichever comes last.
  let open = 2;
  const release = (): void => {
    if (--open === 0) generation.release(exchange);
  };
  response.on("close", () => {
    if (!response.writableFinished) exchange.abort(new GatewayError("client_closed", "The client closed the connection."));
    release();
  });
  await serveExchange(ctx as Koa.Context & { exchange: Exchange }, exchange, route, response, parts);
  release();
}

function clientRequest(
  message: IncomingMessage,
  method: string,
  path: string,
  query: string,
  parameters: Readonly<Record<string, string>>,
): ClientRequest {
  return {
    method,
    path,
    query,
    parameters,
    header(name) {
      const value = message.headers[name];
      return typeof value === "string" ? value : undefined;
    },
    address: message.socket.remoteAddress ?? null,
  };
}

function splitTarget(target: string): [path: string, query: string] {
  const mark = target.indexOf("?");
  return mark < 0 ? [target, ""] : [target.slice(0, mark), target.slice(mark + 1)];
}

/** `/health/live` and `/health/ready`: a status and nothing more, for anybody. */
function writeHealth({ res: response, method }: Koa.Context, path: string, id: string, parts: PublicParts): boolean {
  const isHealthy = path === "/health/live" ? true : path === "/health/ready" ? parts.isReady() : undefined;
  if (isHealthy === undefined) return false;
  if (method !== "GET" && method !== "HEAD") {
    writeError(response, wrongMethod(method, ["GET", "HEAD"]), ["x-request-id", id]);
    return true;
  }
  const body = isHealthy ? '{"status":"ok"}' : '{"status":"unavailable"}';
  response.writeHead(isHealthy ? 200 : 503, [
    "x-request-id",
    id,
    "content-type",
    "application/json",
    "content-length",
    String(body.length),
  ]);
  response.end(body);
  return true;
}

function noRoute(): GatewayError {
  return new GatewayError("route_not_found", "This path does not exist.");
}

function wrongMethod(method: string, allow: readonly string[]): GatewayError {
  const names = allow.join(", ");
  return new GatewayError("method_not_allowed", `This path does not take ${method}; it takes ${names}.`, {
    headers: { allow: names },
  });
}
