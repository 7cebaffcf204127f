/** The header `expect`: its client waits for "100 continue" before it sends its body. */

import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { GatewayError } from "@sluice/contract";
import { writeError } from "../egress/error.ts";
import { requestId } from "./request-id.ts";

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
