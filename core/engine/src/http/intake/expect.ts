/** The header `expect`: a client that waits for a word before it sends its body. */

import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { GatewayError } from "@sluice/contract";
import { writeError } from "../egress/error.ts";
import { requestId } from "./request-id.ts";

/**
 * Wraps a handler so that it sends "100 continue" when the gateway begins to read the body. A client that is refused by its headers
 * gets the refusal first and sends no body.
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
  const refusal = new GatewayError("invalid_header", "The gateway knows no expectation but 100-continue.", {
    status: 417,
    param: "expect",
    headers: { connection: "close" },
  });
  writeError(response, refusal, ["x-request-id", requestId(Date.now())]);
}
