/** The gateway as an extension calls it: requests in the caller's name, to its own listeners. */

import type { IncomingMessage } from "node:http";
import {
  type EdgeAnswer,
  type EdgeCall,
  type EdgeGateway,
  type EdgeStream,
  GatewayError,
  type JsonValue,
} from "@sluice/contract";
import { parseJson } from "@sluice/kit";
import { openInMemory, type OpenReply } from "../in-memory.ts";
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
    async call(call) {
      const opened = await openCall(call, parts);
      return wholeOf(opened);
    },
    async open(call) {
      const opened = await openCall(call, parts);
      const type = String(opened.reply.headers["content-type"] ?? "");
      return type.startsWith("text/event-stream") ? streamOf(opened) : wholeOf(opened);
    },
    routes: parts.routes,
    isReady: parts.isReady,
  };
}

/** Replies of the gateway are bounded; this one is of what an extension puts together. */
const MAX_REPLY_BYTES = 64 * 1024 * 1024;

async function openCall(call: EdgeCall, parts: GatewayParts): Promise<OpenReply> {
  const { message, listeners } = parts;
  const { listener: name = "public", method, path, query = {}, body } = call;
  const listener = listeners[name];
  if (listener === undefined)
    throw new GatewayError("overloaded", `The ${name} listener of this process is not open.`);
  const given = Object.entries(query).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  const search = given.length === 0 ? "" : `?${new URLSearchParams(given).toString()}`;
  const signal =
    call.signal === undefined ? parts.signal : AbortSignal.any([parts.signal, call.signal]);
  return openInMemory(
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
}

async function wholeOf({ reply, close }: OpenReply): Promise<EdgeAnswer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const piece of reply as AsyncIterable<Buffer>) {
      bytes += piece.length;
      if (bytes > MAX_REPLY_BYTES)
        throw new GatewayError("upstream_invalid_response", "The reply is too large to be joined.");
      pieces.push(piece);
    }
  } finally {
    close();
  }
  const text = Buffer.concat(pieces).toString("utf8");
  return { status: reply.statusCode ?? 500, headers: shown(reply), body: valueOf(text) };
}

function streamOf({ reply, close }: OpenReply): EdgeStream {
  const chunks = async function* (): AsyncGenerator<Uint8Array> {
    try {
      yield* reply as AsyncIterable<Buffer>;
    } finally {
      close();
    }
  };
  const headers = { ...shown(reply), "content-type": "text/event-stream" };
  return { status: reply.statusCode ?? 500, headers, chunks: chunks() };
}

function shown(reply: IncomingMessage): Record<string, string> {
  const headers = Object.entries(reply.headers).filter(
    (entry): entry is [string, string] => typeof entry[1] === "string" && !OF_REPLY.has(entry[0]),
  );
  return Object.fromEntries(headers);
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
    return parseJson(text) as JsonValue;
  } catch {
    return text;
  }
}
