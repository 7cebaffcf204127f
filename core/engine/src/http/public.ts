/** The public listener's Koa app: fixed pages, the route table, one exchange a request. */

import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import Koa from "koa";
import {
  type ClientRequest,
  type EdgeRequest,
  type Exchange,
  GatewayError,
  type GatewayRequest,
  type Identity,
  isGatewayError,
  type Sealer,
} from "@sluice/contract";
import { KEEPING } from "@sluice/runtime";
import type { Edge } from "../generation/extensions.ts";
import type { Generation } from "../generation/generation.ts";
import type { GenerationManager } from "../generation/manager.ts";
import { CallNote } from "../accounting/call-note.ts";
import type { CompiledRoute } from "../pipeline/compile.ts";
import { LiveExchange } from "../pipeline/exchange.ts";
import { leavesRows } from "../accounting/rows.ts";
import { allowOrigin, allowPreflight } from "./cors.ts";
import { writeError } from "./egress/error.ts";
import { type FixedPage, healthPage, isDocsPath, writePage } from "./egress/page.ts";
import { StalledClients } from "./egress/stalled.ts";
import { findRoute, type FoundRoute, wrongMethod } from "./intake/find-route.ts";
import {
  checkHeaders,
  invalidPath,
  readTarget,
  type RequestTarget,
} from "./intake/request-head.ts";
import { gatewayFor } from "./extensions/gateway.ts";
import { isInside, type OwnListeners } from "./extensions/inside.ts";
import { answerRoute, type RoutedRequest } from "./extensions/route.ts";
import { EDGE, edgeForm, writeAnswer } from "./extensions/write.ts";
import { formFor } from "./form/choose.ts";
import { FacedForm } from "./form/faced.ts";
import { referenceForm } from "./form/reference.ts";
import type { ReplyForm } from "./form/reply-form.ts";
import { type HeldAccount, HeldBytes } from "./listener/held-bytes.ts";
import { missingRoute } from "./intake/missing-route.ts";
import { nearRoute } from "./intake/near-route.ts";
import { requestedGuardrails } from "./ingress/gateway-fields/gateway-fields.ts";
import { ExtendedRequest } from "./ingress/extended.ts";
import { receiveRequest } from "./ingress/receive.ts";
import { withoutCredentials } from "./ingress/redact.ts";
import { openapiPage } from "./openapi/pages.ts";
import { presentedBy } from "./intake/presented.ts";
import { requestId } from "./intake/request-id.ts";
import { type SelfListener, serveSelf } from "./self/answer.ts";
import { serveExchange, type ServeParts } from "./serve-exchange.ts";
import { shuttingDown } from "./listener/shutting-down.ts";

/**
 * Whether requests are admitted. `leaving`: not ready, and still serving. `draining`: new calls are
 * refused.
 */
export interface Admission {
  phase: "serving" | "leaving" | "draining";
}

/** The parts of the process that the public app needs. */
export interface PublicParts extends ServeParts, Pick<SelfListener, "self"> {
  /** The manager. */
  readonly generations: Pick<GenerationManager, "generationFor">;
  readonly admission: Admission;
  readonly sealer: Sealer;
  /** Headers that carry a key, in lower case. */
  readonly authHeaders: readonly string[];
  /** Whether requests can be admitted. */
  readonly isReady: () => boolean;
  /** The listeners that extensions call. */
  readonly listeners: OwnListeners;
}

declare module "koa" {
  interface DefaultContext {
    /** The exchange of this request; set before any step runs. */
    exchange: Exchange;
  }
}

/** An app that a listener can serve. */
export interface PublicApp {
  callback(): RequestListener;
}

/**
 * The app. Every response, errors included, is written by the egress. Of Koa it has the context
 * alone: Koa's listeners for the end of a response and its chain of one middleware do nothing for a
 * response that Koa does not write.
 */
export function createPublicApp(parts: PublicParts): PublicApp {
  const app = new Koa();
  const serving: Serving = {
    ...parts,
    held: new HeldBytes(parts.clock),
    stalled: new StalledClients(parts.clock),
  };
  return {
    callback: () => (request, response) => {
      const failed = (error: unknown): void => {
        parts.log.error("the public app failed", { error });
        response.destroy();
      };
      try {
        serve(app.createContext(request, response), serving)?.catch(failed);
      } catch (error) {
        failed(error);
      }
    },
  };
}

interface Serving extends PublicParts {
  /** The memory of requests. */
  readonly held: HeldBytes;
  /** Clients that do not read. */
  readonly stalled: StalledClients;
}

/** Without a promise where it has answered. */
function serve(ctx: Koa.Context, parts: Serving): Promise<void> | undefined {
  const id = requestId(parts.clock.now());
  let admitted: Admitted | undefined | Promise<undefined>;
  try {
    admitted = admit(ctx, id, parts);
  } catch (error) {
    refuse(ctx, id, error, parts);
    return undefined;
  }
  if (admitted instanceof Promise)
    return admitted.catch((error: unknown) => refuse(ctx, id, error, parts));
  return admitted === undefined ? undefined : run(ctx, id, admitted, parts);
}

/** Answers a request that has no exchange. */
function refuse({ req, res }: Koa.Context, id: string, error: unknown, parts: Serving): undefined {
  const failure = isGatewayError(error)
    ? error
    : new GatewayError("internal_error", "The gateway failed on this request.", { cause: error });
  if (failure.status === 500) parts.log.error("request failed", { request_id: id, error: failure });
  writeError(res, failure, ["x-request-id", id], formOfUnrouted(generationFor(req, parts)));
  parts.metrics.countUnrouted(failure.status, failure.code);
}

function formOfUnrouted(generation: Generation | undefined): ReplyForm {
  return edgeForm(generation?.edge) ?? referenceForm(generation?.snapshot.server.errorCode);
}

/** The generation for a request; `undefined` before the first one and while shutting down. */
function generationFor(
  message: IncomingMessage,
  { admission, generations, authHeaders }: PublicParts,
): Generation | undefined {
  return admission.phase === "draining"
    ? undefined
    : generations.generationFor(() => presentedBy(message, authHeaders));
}

/** A request with its route. */
interface Admitted {
  readonly generation: Generation;
  readonly target: RequestTarget;
  readonly route: CompiledRoute;
  readonly parameters: Readonly<Record<string, string>>;
}

/** Checks the request line and the headers. Returns `undefined` when it has answered. */
function admit(
  { req: message, res: response }: Koa.Context,
  id: string,
  parts: PublicParts,
): Admitted | undefined | Promise<undefined> {
  const method = message.method ?? "GET";
  const target = readTarget(message.url ?? "");
  const health = healthPage(target.path, parts.isReady);
  if (health !== undefined) {
    answerPage(response, method, health, id);
    return undefined;
  }
  const generation = generationFor(message, parts);
  if (generation === undefined) throw shuttingDown();
  const { cors, authHeaders } = generation.snapshot.server;
  if (cors !== undefined) allowOrigin(cors, message, response);
  checkHeaders(message, authHeaders);
  if (isDocsPath(target.path)) {
    if (method !== "GET" && method !== "HEAD") answerPage(response, method, undefined, id);
    else
      return openapiPage(target.path, generation, message).then((page) =>
        answerPage(response, method, page, id),
      );
    return undefined;
  }
  if (generation.edge !== undefined && !isInside(message)) {
    const extended = generation.edge.routes.public.find(method, target.path);
    if (extended.kind === "found") {
      const { value: route, parameters } = extended;
      const client = clientRequest(message, method, target, parameters);
      return serveRoute({ message, response, client, route, generation }, id, parts);
    }
  }
  const own = serveSelf(parts, { message, response, target, generation }, id);
  if (own !== undefined) return own;
  const found: FoundRoute = findRoute(generation, method, target);
  if (found.kind === "route") {
    if (leavesRows(found.route.operation)) parts.ledger.check();
    return { generation, target: found.target, route: found.route, parameters: found.parameters };
  }
  if (cors !== undefined) allowPreflight(cors, message, response, found.methods);
  response.writeHead(204, ["x-request-id", id, "allow", found.methods.join(", ")]).end();
  return undefined;
}

/** Serves a route of an extension. Rejects with the GatewayError of a refusal. */
async function serveRoute(
  asked: RoutedRequest,
  id: string,
  parts: PublicParts,
): Promise<undefined> {
  const answer = await answerRoute(asked, parts);
  await writeAnswer(asked.response, answer, id);
  parts.metrics.countUnrouted(answer.status, "none");
  return undefined;
}

/**
 * Answers with a fixed page, or with `allow` for OPTIONS. Throws `method_not_allowed` for other
 * methods.
 */
function answerPage(
  response: ServerResponse,
  method: string,
  page: FixedPage | undefined,
  id: string,
): undefined {
  if (method === "OPTIONS")
    response.writeHead(204, ["x-request-id", id, "allow", "GET, HEAD"]).end();
  else if (page !== undefined && (method === "GET" || method === "HEAD"))
    writePage(response, page, ["x-request-id", id]);
  else throw wrongMethod(method, ["GET", "HEAD"]);
}

async function run(
  ctx: Koa.Context,
  id: string,
  admitted: Admitted,
  parts: Serving,
): Promise<void> {
  const { req: message, res: response } = ctx;
  const { generation, target, route, parameters } = admitted;
  const asked = clientRequest(message, route.method, target, parameters);
  const { client, form } = formFor(asked, route, generation, id, parts);
  const { server } = generation.snapshot;
  const held = parts.held.open(server.maxHeldBytes);
  const exchange = new LiveExchange({
    id,
    operation: route.operation,
    client,
    generation: generation.number,
    deadlineMs: route.deadlineMs,
    clock: parts.clock,
    note: new CallNote(parts.ledger),
    beforeBody: route.beforeBody,
    held,
    read: ({ identity }) => readRequest(message, client, admitted, form, held, identity),
  });
  ctx.exchange = exchange;
  if (form instanceof FacedForm) form.serve(exchange);
  else if (route.face?.keeping !== undefined) KEEPING.set(exchange, route.face.keeping);
  if (generation.edge !== undefined) attachEdge(exchange, message, generation, parts);
  generation.lease(exchange);
  // The lease ends when the response is closed and the rows are settled, whichever comes last.
  let open = 2;
  const release = (): void => {
    if (--open > 0) return;
    held.close();
    generation.release(exchange);
  };
  const watched = parts.stalled.watch(exchange, response, server.stalledClientMs);
  response.on("close", () => {
    parts.stalled.end(watched);
    if (!response.writableFinished)
      exchange.abort(new GatewayError("client_closed", "The client closed the connection."));
    release();
  });
  try {
    await serveExchange(
      ctx as Koa.Context & { exchange: Exchange },
      exchange,
      route,
      form,
      response,
      parts,
    );
    generation.tally?.add(exchange);
  } finally {
    release();
  }
}

/** Lets the extensions of a generation read and write one exchange. */
function attachEdge(
  exchange: LiveExchange,
  message: IncomingMessage,
  { edge, routes }: Generation,
  { log, listeners, isReady }: PublicParts,
): void {
  if (edge === undefined) return;
  const { signal } = exchange;
  const pages = () => [...routes.entries()].map(({ method, path }) => ({ method, path }));
  const gateway = () => gatewayFor({ listeners, message, routes: pages, isReady, signal });
  EDGE.set(exchange, { edge, gateway, log });
}

/** The readers of a request; `undefined` where there are none. */
function extendedBy(
  edge: Edge | undefined,
  message: IncomingMessage,
  about: Omit<EdgeRequest, "body" | "mayAnswer">,
  hasFace: boolean,
): ExtendedRequest | undefined {
  if (edge === undefined || edge.readers.length === 0) return undefined;
  const mayAnswer = !hasFace && about.operation !== "passthrough" && !isInside(message);
  return new ExtendedRequest(edge.readers, { ...about, mayAnswer });
}

/**
 * Reads and checks the body. Only a valid key learns which prefixes are providers: the refusal
 * comes after authentication, before the body.
 */
async function readRequest(
  message: IncomingMessage,
  client: ClientRequest,
  { generation, target, route, parameters }: Admitted,
  form: ReplyForm,
  held: HeldAccount,
  identity: Identity | undefined,
): Promise<GatewayRequest | undefined> {
  const { providers, guardrails, server } = generation.snapshot;
  const { operation } = route;
  const isProvider = (name: string): boolean =>
    providers.some((provider) => provider.name === name);
  const { provider = "ref" } = parameters;
  if (operation === "passthrough" && provider !== "ref" && !isProvider(provider))
    throw target.hasEncodedSlash
      ? invalidPath()
      : missingRoute({
          path: target.path,
          method: route.method,
          near: nearRoute(generation.routes, route.method, target.path),
          natives: generation.natives,
        });
  const limits = {
    maxBytes: server.maxBodyBytes,
    hold: (bytes: number) => held.takeBody(bytes, identity),
  };
  const translate = form instanceof FacedForm ? form : undefined;
  const about = { operation, client, identity };
  const extended = extendedBy(generation.edge, message, about, translate !== undefined);
  const received = await receiveRequest(
    operation,
    message,
    client,
    limits,
    isProvider,
    translate,
    extended,
  );
  if (received === undefined) return undefined;
  const request = withoutCredentials(extended?.finish(received) ?? received);
  const asked = requestedGuardrails(request.fields, (name) =>
    guardrails.some((guardrail) => guardrail.name === name),
  );
  return asked.length === 0 ? request : { ...request, guardrails: asked };
}

/**
 * The request as steps see it. `method` is the route's: a HEAD is a GET whose body stays behind.
 */
function clientRequest(
  message: IncomingMessage,
  method: string,
  { path, query }: RequestTarget,
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
