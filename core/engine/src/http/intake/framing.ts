/** Versions and transfer codings of requests. Unknown ones are refused (RFC 9112 2.3 and 6.1). */

import type { IncomingMessage, RequestListener } from "node:http";
import { GatewayError } from "@sluice/contract";
import { writeError } from "../egress/error.ts";
import { requestId } from "./request-id.ts";

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
