/** Answers for bytes that Node's HTTP parser refuses: no request exists, so the answer is written to the socket itself. */

import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { errorBody, GatewayError } from "@sluice/spec";
import { requestId } from "../request-id.ts";

/** Answers and closes the connection. Does nothing when the client is gone or an answer is under way. */
export function writeParserError(error: Error & { readonly code?: string }, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable || socket.bytesWritten > 0) {
    socket.destroy();
    return;
  }
  const { status, body } = answerTo(error.code);
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`,
    `x-request-id: ${requestId(Date.now())}`,
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(body)}`,
    "connection: close",
  ];
  socket.end(`${lines.join("\r\n")}\r\n\r\n${body}`);
}

function answerTo(code: string | undefined): { readonly status: number; readonly body: string } {
  const refusal =
    code === "ERR_HTTP_REQUEST_TIMEOUT"
      ? new GatewayError("body_timeout", "The request did not arrive in time.")
      : code === "HPE_HEADER_OVERFLOW"
        ? new GatewayError("invalid_field", "The request's headers are too large.", { status: 431 })
        : new GatewayError("invalid_field", "This is not a valid HTTP request.");
  return { status: refusal.status, body: JSON.stringify(errorBody(refusal)) };
}
