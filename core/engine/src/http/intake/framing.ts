/** Versions and transfer codings of requests: what the gateway does not know is refused, never guessed (RFC 9112 2.3 and 6.1). */

import type { IncomingMessage, RequestListener } from "node:http";
import { GatewayError } from "@sluice/contract";
import { writeError } from "../egress/error.ts";
import { requestId } from "./request-id.ts";

const VERSIONS: ReadonlySet<string> = new Set(["1.1", "1.0"]);

/** Their framing is in doubt: what follows on the connection may be a part of the body. */
const CLOSE = { connection: "close" };

/** A handler that refuses such requests before anything reads them, and ends their connection. */
export function withKnownFraming(handler: RequestListener): RequestListener {
  return (request, response) => {
    const refusal = framingFault(request);
    if (refusal === undefined) return handler(request, response);
    writeError(response, refusal, ["x-request-id", requestId(Date.now())]);
  };
}

function framingFault({ httpVersion, headers: { "transfer-encoding": coding } }: IncomingMessage): GatewayError | undefined {
  if (!VERSIONS.has(httpVersion)) return unknownVersion();
  if (coding === undefined) return undefined;
  if (coding.trim().toLowerCase() !== "chunked") {
    return new GatewayError("unsupported_transfer_coding", "The gateway reads no transfer coding but `chunked`.", {
      param: "transfer-encoding",
      headers: CLOSE,
    });
  }
  if (httpVersion === "1.1") return undefined;
  return new GatewayError("invalid_header", "A request of HTTP/1.0 has no transfer coding: send it with `content-length`.", {
    param: "transfer-encoding",
    headers: CLOSE,
  });
}

/** The refusal of a version. */
export function unknownVersion(): GatewayError {
  return new GatewayError("unsupported_http_version", "The gateway speaks HTTP/1.1 and HTTP/1.0.", { headers: CLOSE });
}
