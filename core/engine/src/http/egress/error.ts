/** Errors on the wire. */

import type { IncomingMessage, ServerResponse } from "node:http";
import { nextTurn } from "@sluice/kit/transport";
import { errorBody, type ErrorCodeForm, type GatewayError } from "@sluice/spec";

/** How long a client that still writes may go on, in milliseconds, before its connection closes. */
const LINGER_MS = 2_000;
/** An unread body of more bytes is thrown away slowly. */
const LARGE_BODY_BYTES = 65_536;

/** Answers with an error as JSON. Does nothing when the client is gone. */
export function writeError(
  response: ServerResponse,
  error: GatewayError,
  headers: readonly string[],
  codeForm?: ErrorCodeForm,
): void {
  if (response.destroyed || response.headersSent) return;
  const body = Buffer.from(JSON.stringify(errorBody(error, codeForm)));
  const all = [...headers, "content-type", "application/json", "content-length", String(body.length)];
  for (const [name, value] of Object.entries(error.headers ?? {})) all.push(name, value);
  if (error.retryAfterMs !== undefined) all.push("retry-after", String(Math.max(1, Math.ceil(error.retryAfterMs / 1000))));
  response.writeHead(error.status, all);
  if (error.headers?.["connection"] === "close" && !response.req.complete) endLater(response, body);
  else {
    if (!response.req.complete && hasLargeBody(response.req)) discard(response.req);
    response.end(body);
  }
}

function hasLargeBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > LARGE_BODY_BYTES;
}

/** Throws a body away, one chunk a turn of the event loop over all connections: a hundred of them delay others by one chunk. */
function discard(request: IncomingMessage): void {
  request.on("data", () => {
    request.pause();
    void nextTurn().then(() => request.resume());
  });
  request.resume();
}

/**
 * Closing under a client that still writes resets the connection, and the client may lose the answer (RFC 9112 9.6). So the
 * answer goes out at once, and what comes is thrown away for a while.
 */
function endLater(response: ServerResponse, body: Buffer): void {
  const end = (): void => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(end, LINGER_MS);
  response.write(body);
  discard(response.req.once("end", end).once("close", end));
}
