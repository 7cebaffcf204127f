/** Errors on the wire. */

import type { ServerResponse } from "node:http";
import { errorBody, type ErrorCodeForm, type GatewayError } from "@sluice/contract";
import { isLargeRest, leaveUnread } from "./unread.ts";

/** Answers with an error as JSON. Does nothing when the client is gone. */
export function writeError(
  response: ServerResponse,
  error: GatewayError,
  headers: readonly string[],
  codeForm?: ErrorCodeForm,
): void {
  if (response.destroyed || response.headersSent) return;
  const body = Buffer.from(JSON.stringify(errorBody(error, codeForm)));
  const all = [
    ...headers,
    "content-type",
    "application/json",
    "content-length",
    String(body.length),
  ];
  for (const [name, value] of Object.entries(error.headers ?? {})) all.push(name, value);
  if (error.retryAfterMs !== undefined)
    all.push("retry-after", String(Math.max(1, Math.ceil(error.retryAfterMs / 1000))));
  if (
    !response.req.complete &&
    (error.headers?.["connection"] === "close" || isLargeRest(response.req))
  )
    leaveUnread(response);
  response.writeHead(error.status, all);
  response.end(body);
}
