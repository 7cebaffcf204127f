/** The public listener's Koa app: fixed pages, the route table, one exchange a request. */

import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import Koa from "koa";
import {
  type Exchange,
  type Face,
  GatewayError,
  isGatewayError,
  type Sealer,
} from "@sluice/contract";
import { KEEPING } from "@sluice/runtime";
import type { Generation } from "../generation/generation.ts";
import type { GenerationManager } from "../generation/manager.ts";
import { PLAYED } from "../accounting/played.ts";
import { CallNote } from "../accounting/call-note.ts";
import type { CompiledRoute } from "../pipeline/compile.ts";
import { LiveExchange } from "../pipeline/exchange.ts";
import { leavesRows } from "../accounting/rows.ts";
import { allowOrigin, allowPreflight } from "./cors.ts";
import { writeError } from "./egress/error.ts";
import { type FixedPage, healthPage, isDocsPath, writePage } from "./egress/page.ts";
import { StalledClients } from "./egress/stalled.ts";
import { findRoute, type FoundRoute, wrongMethod } from "./intake/find-route.ts";
import { checkHeaders, readTarget } from "./intake/request-head.ts";
import { Detachment } from "./detached/detachment.ts";
import { DetachingNote } from "./detached/note.ts";
import { gatewayFor } from "./extensions/gateway.ts";
import { isPlayed } from "./admin/playground/played-messages.ts";
import { isInside, type OwnListeners } from "./extensions/inside.ts";
import { answerRoute, type RoutedRequest } from "./extensions/route.ts";
import { EDGE, edgeForm, writeAnswer } from "./extensions/write.ts";
import { FailureLog } from "./failure-log.ts";
import { formFor } from "./form/choose.ts";
import { FacedForm } from "./form/faced.ts";
import { KeptForm } from "./form/kept.ts";
import { referenceForm } from "./form/reference.ts";
import type { ReplyForm } from "./form/reply-form.ts";
import { type HeldAccount, HeldBytes } from "./listener/held-bytes.ts";
import { clientRequest } from "./intake/client-request.ts";
import { readRequest, type RoutedTarget } from "./ingress/read-request.ts";
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
export interface PublicParts extends Omit<ServeParts, "failures">, Pick<SelfListener, "self"> {
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
    failures: new FailureLog(parts.log),
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
  readonly failures: FailureLog;
  /** The memory of requests. */
  readonly held: HeldBytes;
  /** Clients that do not read. */
  readonly stalled: StalledClients;
}

/** Without a promise where it has answered. */
function serve(ctx: Koa.Context, parts: Serving): Promise<void> | undefined {
  const id = requestId(parts.clock.now());
  let admitted: RoutedTarget | undefined | Promise<undefined>;
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
  const generation = generationFor(req, parts);
  const face = failure.code === "method_not_allowed" ? faceAt(req, failure, generation) : undefined;
  const form = face === undefined ? formOfUnrouted(generation) : new KeptForm(face, id);
  writeError(res, failure, ["x-request-id", id], form);
  parts.metrics.countUnrouted(failure.status, failure.code);
}

/** The face of the path of a request whose method the path does not take. */
function faceAt(
  { url = "" }: IncomingMessage,
  { headers }: GatewayError,
  generation: Generation | undefined,
): Face | undefined {
  const [method = ""] = headers?.["allow"]?.split(", ") ?? [];
  const match = generation?.routes.find(method, readTarget(url).path);
  return match?.kind === "found" ? match.value.face : undefined;
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

/** Checks the request line and the headers. Returns `undefined` when it has answered. */
function admit(
  { req: message, res: response }: Koa.Context,
  id: string,
  parts: PublicParts,
): RoutedTarget | undefined | Promise<undefined> {
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

/** An exchange with what its reply needs. */
interface Opened {
  readonly exchange: LiveExchange;
  readonly form: ReplyForm;
  /** Absent: clients of the route wait for their replies. */
  readonly detachment: Detachment | undefined;
  readonly held: HeldAccount;
}

function openExchange(
  { req: message, res: response }: Koa.Context,
  id: string,
  routed: RoutedTarget,
  parts: Serving,
): Opened {
  const { generation, target, route, parameters } = routed;
  const asked = clientRequest(message, route.method, target, parameters);
  const { client, form } = formFor(asked, route, generation, id, parts);
  const held = parts.held.open(generation.snapshot.server.maxHeldBytes);
  const note = new CallNote(parts.ledger);
  const mayDetach = form instanceof FacedForm && mayGoOn(route);
  const exchange = new LiveExchange({
    id,
    operation: route.operation,
    client,
    generation: generation.number,
    route,
    deadlineMs: route.deadlineMs,
    clock: parts.clock,
    note: mayDetach ? new DetachingNote(note, () => detachment) : note,
    beforeBody: route.beforeBody,
    held,
    read: (asking) => readRequest(message, client, routed, form, held, asking),
  });
  if (isPlayed(message)) PLAYED.set(exchange, true);
  const detachment = mayDetach ? new Detachment(form, exchange, response, parts) : undefined;
  if (form instanceof FacedForm) form.serve(exchange);
  else if (route.face?.keeping !== undefined) KEEPING.set(exchange, route.face.keeping);
  if (generation.edge !== undefined) attachEdge(exchange, message, generation, parts);
  return { exchange, form, detachment, held };
}

async function run(
  ctx: Koa.Context,
  id: string,
  routed: RoutedTarget,
  parts: Serving,
): Promise<void> {
  const { generation, route } = routed;
  const { res: response } = ctx;
  const { exchange, form, detachment, held } = openExchange(ctx, id, routed, parts);
  ctx.exchange = exchange;
  generation.lease(exchange);
  // The lease ends when the response is closed and the rows are settled, whichever comes last.
  let open = 2;
  const release = (): void => {
    if (--open > 0) return;
    held.close();
    generation.release(exchange);
  };
  const waiting = detachment ?? exchange;
  const { stalledClientMs } = generation.snapshot.server;
  const watched = parts.stalled.watch(waiting, response, stalledClientMs);
  response.on("close", () => {
    parts.stalled.end(watched);
    if (!response.writableFinished)
      waiting.abort(new GatewayError("client_closed", "The client closed the connection."));
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
      detachment,
    );
    generation.tally?.add(exchange);
  } finally {
    if (detachment?.isDetached === true) await detachment.end();
    release();
  }
}

/** Whether exchanges of a route may go on without their clients. */
function mayGoOn({ operation, face }: CompiledRoute): boolean {
  return operation === "chat" && face?.keeping?.detached !== undefined;
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
