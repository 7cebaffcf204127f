/** Answers a request about the caller itself: the key first, then the body, then the handler. */

import type { IncomingMessage, ServerResponse } from "node:http";
import type { JsonObject } from "@sluice/contract";
import type { RequestMetrics } from "../../accounting/request-metrics.ts";
import type { Generation } from "../../generation/generation.ts";
import { bodyOf, identify } from "../extensions/route.ts";
import { writeAnswer } from "../extensions/write.ts";
import { wrongMethod } from "../intake/find-route.ts";
import type { RequestTarget } from "../intake/request-head.ts";
import { askerOf, presentedOf, type SelfRoute } from "./request.ts";

/** A request to such a route. */
export interface SelfCall {
  readonly own: SelfRoute;
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
  readonly target: RequestTarget;
  readonly generation: Generation;
}

/** Answers. Rejects with the GatewayError of a refusal. */
export async function serveSelf(
  asked: SelfCall,
  requestId: string,
  metrics: Pick<RequestMetrics, "countUnrouted">,
): Promise<undefined> {
  const body = await answerOf(asked, requestId);
  await writeAnswer(asked.response, { status: 200, body }, requestId);
  metrics.countUnrouted(200, "none");
}

async function answerOf(
  { own, message, response, target, generation }: SelfCall,
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
    body: await bodyOf(message),
    asker: askerOf(identity, requestId, message),
  });
}
