/** The gateway as an extension calls it: requests in the caller's name, to its own listeners. */

import type { IncomingMessage } from "node:http";
import { type EdgeAnswer, type EdgeCall, type EdgeGateway, GatewayError } from "@sluice/contract";
import type { JsonValue } from "@sluice/contract";
import { sendInMemory } from "../in-memory.ts";
import { insideOf, type OwnListeners } from "./inside.ts";

/** What the facade of one request is made of. */
export interface GatewayParts {
  readonly listeners: OwnListeners;
  readonly message: IncomingMessage;
  readonly routes: EdgeGateway["routes"];
  readonly isReady: () => boolean;
  /** Ends its calls: the caller left, or its time is up. */
  readonly signal: AbortSignal;
}

/**
 * Headers of the caller that describe its own connection and body, or would make two calls one.
 * Every other one is sent again.
 */
const OF_CONNECTION: ReadonlySet<string> = new Set([
  "connection",
  "content-encoding",
  "content-length",
  "content-type",
  "expect",
  "idempotency-key",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Headers of a reply that describe its connection. */
const OF_REPLY: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "content-type",
  "date",
  "keep-alive",
  "transfer-encoding",
]);

/** A facade for the caller of one request. */
export function gatewayFor(parts: GatewayParts): EdgeGateway {
  return {
    call: (call) => send(call, parts),
    routes: parts.routes,
    isReady: parts.isReady,
  };
}

async function send(call: EdgeCall, parts: GatewayParts): Promise<EdgeAnswer> {
  const { message, listeners, signal } = parts;
  const { listener: name = "public", method, path, query = {}, body } = call;
  const listener = listeners[name];
  if (listener === undefined)
    throw new GatewayError("overloaded", `The ${name} listener of this process is not open.`);
  const given = Object.entries(query).filter((entry): entry is [string, string] => {
    return entry[1] !== undefined;
  });
  const search = given.length === 0 ? "" : `?${new URLSearchParams(given).toString()}`;
  const reply = await sendInMemory(
    insideOf(listener),
    {
      method,
      target: `${path}${search}`,
      headers: headersOf(message, body !== undefined),
      body: body === undefined ? undefined : JSON.stringify(body),
    },
    signal,
    message.socket.remoteAddress,
  );
  const headers = Object.entries(reply.headers).filter(
    (entry): entry is [string, string] => typeof entry[1] === "string" && !OF_REPLY.has(entry[0]),
  );
  return { status: reply.status, headers: Object.fromEntries(headers), body: valueOf(reply.body) };
}

function headersOf({ headers }: IncomingMessage, hasBody: boolean): Record<string, string> {
  const kept = Object.entries(headers).filter(
    (entry): entry is [string, string] =>
      typeof entry[1] === "string" && !OF_CONNECTION.has(entry[0]),
  );
  return {
    ...Object.fromEntries(kept),
    ...(hasBody ? { "content-type": "application/json" } : {}),
  };
}

function valueOf(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}
