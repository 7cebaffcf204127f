/** The request as steps see it, before any body. */

import type { IncomingMessage } from "node:http";
import type { ClientRequest } from "@sluice/contract";
import type { RequestTarget } from "./request-head.ts";

/**
 * The request of a client. `method` is the route's: a HEAD is a GET whose body stays behind.
 */
export function clientRequest(
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
