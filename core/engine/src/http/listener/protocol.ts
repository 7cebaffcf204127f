/**
 * The protocol of a listener: requests that it refuses before the app, by version, transfer
 * coding, expectation and the number under way on one connection.
 */

import type { RequestListener, IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { GatewayError } from "@sluice/contract";
import { writeError } from "../egress/error.ts";
import { requestId } from "../intake/request-id.ts";

/** Requests of one connection that may be under way. Replies go out in their order. */
const MAX_IN_FLIGHT = 16;

/** The requests of a connection whose replies have not ended. */
interface Pipeline {
  inFlight: number;
  /** Set with the first request above the limit: later data is not read. */
  isOver: boolean;
}

/**
 * A handler that refuses the 17th request of a connection whose first 16 are not answered yet, and
 * closes the connection behind that refusal. Requests behind it are not handled: their replies
 * could not be written.
 */
export function withBoundedPipeline(handler: RequestListener): RequestListener {
  const pipelines = new WeakMap<Socket, Pipeline>();
  return (request, response) => {
    const { socket } = request;
    let pipeline = pipelines.get(socket);
    if (pipeline === undefined) pipelines.set(socket, (pipeline = { inFlight: 0, isOver: false }));
    if (pipeline.isOver) return;
    if (pipeline.inFlight >= MAX_IN_FLIGHT) {
      pipeline.isOver = true;
      const message = `One connection may have ${MAX_IN_FLIGHT} requests under way. Read their replies before sending more.`;
      // The rest of the connection is not read.
      response.shouldKeepAlive = false;
      socket.pause();
      writeError(response, new GatewayError("rate_limited", message), [
        "x-request-id",
        requestId(Date.now()),
      ]);
      return;
    }
    const counted = pipeline;
    counted.inFlight += 1;
    response.on("close", () => (counted.inFlight -= 1));
    return handler(request, response);
  };
}

const VERSIONS: ReadonlySet<string> = new Set(["1.1", "1.0"]);

/** The framing is ambiguous: later bytes of the connection may belong to the body. */
const CLOSE = { connection: "close" };

/** A handler that refuses such requests before anything reads them, and ends their connection. */
export function withKnownFraming(handler: RequestListener): RequestListener {
  return (request, response) => {
    const refusal = framingFault(request);
    if (refusal === undefined) return handler(request, response);
    writeError(response, refusal, ["x-request-id", requestId(Date.now())]);
  };
}

function framingFault({
  httpVersion,
  headers: { "transfer-encoding": coding },
}: IncomingMessage): GatewayError | undefined {
  if (!VERSIONS.has(httpVersion)) return unknownVersion();
  if (coding === undefined) return undefined;
  if (coding.trim().toLowerCase() !== "chunked") {
    return new GatewayError(
      "unsupported_transfer_coding",
      "The gateway supports the transfer coding `chunked` only.",
      {
        param: "transfer-encoding",
        headers: CLOSE,
      },
    );
  }
  if (httpVersion === "1.1") return undefined;
  return new GatewayError(
    "invalid_header",
    "HTTP/1.0 has no transfer codings. Send `content-length`.",
    {
      param: "transfer-encoding",
      headers: CLOSE,
    },
  );
}

/** The refusal of a version. */
export function unknownVersion(): GatewayError {
  return new GatewayError(
    "unsupported_http_version",
    "The gateway supports HTTP/1.1 and HTTP/1.0 only.",
    { headers: CLOSE },
  );
}

/**
 * Wraps a handler so that it sends "100 continue" when the gateway begins to read the body. A
 * client that is refused by its headers gets the refusal first and sends no body.
 */
export function withLateContinue(handler: RequestListener): RequestListener {
  return (request, response) => {
    request.once("resume", () => {
      if (!response.headersSent && !response.destroyed) response.writeContinue();
    });
    return handler(request, response);
  };
}

/** Refuses every other expectation (RFC 9110 10.1.1). */
export function refuseExpectation(_request: IncomingMessage, response: ServerResponse): void {
  const refusal = new GatewayError(
    "invalid_header",
    "The gateway supports the expectation 100-continue only. Send the request without the header expect.",
    {
      status: 417,
      param: "expect",
      headers: { connection: "close" },
    },
  );
  writeError(response, refusal, ["x-request-id", requestId(Date.now())]);
}
