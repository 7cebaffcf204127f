/** Serves a public route of an extension: the key first, then the body, then its handler. */

import type { IncomingMessage, ServerResponse } from "node:http";
import {
  type ClientRequest,
  type Clock,
  type EdgeAnswer,
  type EdgeGateway,
  type ExtensionRoute,
  GatewayError,
  type Identity,
  type JsonObject,
} from "@sluice/contract";
import { holderOf } from "@sluice/kit/internals";
import type { Generation, Leaseholder } from "../../generation/generation.ts";
import { readBody } from "../ingress/bytes/body.ts";
import { checkMediaType, readJson } from "../ingress/bytes/json.ts";
import { presentedKey } from "../intake/presented-key.ts";
import { gatewayFor } from "./gateway.ts";
import type { OwnListeners } from "./inside.ts";

const REFUSAL =
  "The API key is missing or not valid; keys belong in a header. Send it as: Authorization: Bearer sk-…";
const BODY_LIMITS = { maxBytes: 1024 * 1024, deadlineMs: 10_000 };
/** A handler that calls a model waits for its reply. */
const DEADLINE_MS = 600_000;

/** A request to such a route. */
export interface RoutedRequest {
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
  readonly client: ClientRequest;
  readonly route: ExtensionRoute;
  readonly generation: Generation;
}

/** The parts of the process that serving needs. */
export interface RouteParts {
  readonly clock: Clock;
  readonly listeners: OwnListeners;
  readonly isReady: () => boolean;
}

/** The answer of the route's handler. Throws the GatewayError of a refusal. */
export async function answerRoute(asked: RoutedRequest, parts: RouteParts): Promise<EdgeAnswer> {
  const { message, response, client, route, generation } = asked;
  const identity = route.access === "open" ? undefined : await identify(message, generation);
  const body = route.body === "none" ? {} : await bodyOf(message, identity);
  const query = new URLSearchParams(client.query);
  return withGateway({ message, response, generation, parts }, async (gateway) =>
    route.handler({ client, query, body, identity }, gateway),
  );
}

/** One request that may call the gateway. */
export interface Calling {
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
  readonly generation: Generation;
  readonly parts: RouteParts;
}

/** Runs a handler, with a lease on its generation; its calls end with the caller's connection. */
export async function withGateway(
  { message, response, generation, parts }: Calling,
  run: (gateway: EdgeGateway) => Promise<EdgeAnswer>,
): Promise<EdgeAnswer> {
  const controller = new AbortController();
  const end = (reason: GatewayError): void => controller.abort(reason);
  const timer = setTimeout(
    () => end(new GatewayError("deadline_exceeded", "The request took too long.")),
    DEADLINE_MS,
  );
  const holder: Leaseholder = { startedAtMs: parts.clock.now(), leaseIndex: -1, abort: end };
  const left = (): void => {
    if (!response.writableFinished)
      end(new GatewayError("client_closed", "The client closed the connection."));
  };
  generation.lease(holder);
  response.once("close", left);
  try {
    return await run(
      gatewayFor({
        listeners: parts.listeners,
        message,
        routes: () =>
          [...generation.routes.entries()].map(({ method, path }) => ({ method, path })),
        isReady: parts.isReady,
        signal: controller.signal,
      }),
    );
  } finally {
    clearTimeout(timer);
    response.off("close", left);
    generation.release(holder);
  }
}

/** The identity of a request. Throws `authentication_failed`. */
export async function identify(
  message: IncomingMessage,
  generation: Generation,
): Promise<Identity> {
  const key = presentedKey(message.headers, generation.snapshot.server.authHeaders);
  const identity = key === undefined ? undefined : await generation.authority.identify(key);
  if (identity === undefined) throw new GatewayError("authentication_failed", REFUSAL);
  return identity;
}

/** The body of a request as an object; an empty one for GET. `identity`: of its sender. */
export async function bodyOf(
  message: IncomingMessage,
  identity: Identity | undefined,
): Promise<JsonObject> {
  if (message.method === "GET" || message.method === "HEAD") return {};
  const bytes = await readBody(message, { ...BODY_LIMITS, holder: holderOf(identity) });
  if (bytes.length === 0) return {};
  checkMediaType(message);
  return readJson(bytes).value;
}
