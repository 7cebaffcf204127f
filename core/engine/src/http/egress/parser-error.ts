/**
 * Answers for bytes that Node's HTTP parser refuses: no request exists, so the answer is written to
 * the socket itself.
 */

import type { Duplex } from "node:stream";
import type { Socket } from "node:net";
import { errorBody, GatewayError } from "@sluice/contract";
import { unknownVersion } from "../listener/protocol.ts";
import { requestId } from "../intake/request-id.ts";
import { STATUS_CODES } from "../node-http.ts";

/**
 * A socket of Node's server, with its response under way. Node's own handler reads the same member.
 */
type AnsweringSocket = Socket & {
  readonly _httpMessage?: { readonly _headerSent: boolean } | null;
};

/**
 * Answers and closes the connection. Does nothing when the client is gone or an answer is under
 * way.
 */
export function writeParserError(
  error: Error & { readonly code?: string },
  socket: AnsweringSocket,
): void {
  if (
    error.code === "ECONNRESET" ||
    !socket.writable ||
    socket._httpMessage?._headerSent === true
  ) {
    socket.destroy();
    return;
  }
  writeSocketError(socket, refusalOf(error.code));
}

/** Writes an error as a whole answer to a socket that has no request, and closes it. */
export function writeSocketError(socket: Duplex, error: GatewayError): void {
  const body = JSON.stringify(errorBody(error));
  const lines = [
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status] ?? ""}`,
    `x-request-id: ${requestId(Date.now())}`,
    "content-type: application/json",
    "x-content-type-options: nosniff",
    `content-length: ${Buffer.byteLength(body)}`,
    ...Object.entries({ ...error.headers, connection: "close" }).map(
      ([name, value]) => `${name}: ${value}`,
    ),
  ];
  socket.on("error", () => socket.destroy());
  socket.end(`${lines.join("\r\n")}\r\n\r\n${body}`);
}

function refusalOf(code: string | undefined): GatewayError {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT")
    return new GatewayError("body_timeout", "The request did not arrive in time.");
  if (code === "HPE_HEADER_OVERFLOW") {
    return new GatewayError(
      "headers_too_large",
      "The request's headers are too large: send at most 16 KiB of them.",
    );
  }
  if (code === "HPE_INVALID_VERSION" || code === "HPE_PAUSED_H2_UPGRADE") return unknownVersion();
  return new GatewayError(
    "invalid_header",
    "The request is not valid HTTP. Send HTTP/1.1 with one header for each line.",
  );
}
