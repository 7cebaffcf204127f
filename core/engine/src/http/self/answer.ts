/** Answers a request about the caller itself: the key first, then the body, then the handler. */

import type { IncomingMessage, ServerResponse } from "node:http";
import type { JsonObject } from "@sluice/contract";
import type { RequestMetrics } from "../../accounting/request-metrics.ts";
import type { Generation } from "../../generation/generation.ts";
import { bodyOf, identify } from "../extensions/route.ts";
import { writeAnswer } from "../extensions/write.ts";
import { wrongMethod } from "../intake/find-route.ts";
import type { RequestTarget } from "../intake/request-head.ts";
import type { SelfService } from "./routes.ts";
import { askerOf, presentedOf, type SelfRoute } from "./request.ts";

/** A request to such a route. */
export interface SelfCall {
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
  readonly target: RequestTarget;
  readonly generation: Generation;
}

/** The parts of the listener that it needs. */
export interface SelfListener {
  /** Absent: keys do not serve themselves. */
  readonly self?: SelfService;
  readonly metrics: Pick<RequestMetrics, "countUnrouted">;
}

/** Answers a path of self-service; `undefined` for another one. Rejects with a GatewayError. */
export function serveSelf(
  { self, metrics }: SelfListener,
  call: SelfCall,
  requestId: string,
): Promise<undefined> | undefined {
  const own = self?.find(call.target.path);
  return own === undefined ? undefined : answer(own, call, requestId, metrics);
}

async function answer(
  own: SelfRoute,
  call: SelfCall,
  requestId: string,
  metrics: SelfListener["metrics"],
): Promise<undefined> {
  const body = await answerOf(own, call, requestId);
  await writeAnswer(call.response, { status: 200, body }, requestId);
  metrics.countUnrouted(200, "none");
}

async function answerOf(
  own: SelfRoute,
  { message, response, target, generation }: SelfCall,
  requestId: string,
): Promise<JsonObject> {
  const method = message.method === "HEAD" ? "GET" : message.method;
  const handler = method === "GET" || method === "POST" ? own[method] : undefined;
  if (handler === undefined) {
    const methods = Object.keys(own).flatMap((name) => (name === "GET" ? [name, "HEAD"] : [name]));
    throw wrongMethod(message.method ?? "", methods);
  }
  const identity = await identify(message, generation);
  response.setHeader("cache-control", "no-store");
  return handler({
    identity,
    presented: presentedOf(message, generation.snapshot.server.authHeaders),
    query: new URLSearchParams(target.query),
    body: await bodyOf(message, identity),
    asker: askerOf(identity, requestId, message),
  });
}
