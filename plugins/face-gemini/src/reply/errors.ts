/** Errors in the API's form (cloud.google.com/apis/design/errors). */

import type { FaceError, GatewayError, JsonObject } from "@sluice/contract";

/** `google.rpc.Code` by HTTP status. */
const WORDS: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  405: "UNIMPLEMENTED",
  408: "DEADLINE_EXCEEDED",
  409: "ABORTED",
  429: "RESOURCE_EXHAUSTED",
  499: "CANCELLED",
  500: "INTERNAL",
  501: "UNIMPLEMENTED",
  502: "UNAVAILABLE",
  503: "UNAVAILABLE",
  504: "DEADLINE_EXCEEDED",
};

const TYPE = "type.googleapis.com/google.rpc";

/** The reply of an error. */
export function errorReply(error: GatewayError, requestId: string): FaceError {
  return { status: error.status, body: errorBody(error, requestId) };
}

/** The body of an error; the same stands in a stream. */
export function errorBody(error: GatewayError, requestId: string): JsonObject {
  const { status, message } = error;
  return {
    error: { code: status, message, status: wordOf(error), details: details(error, requestId) },
  };
}

function wordOf({ status, retryable }: GatewayError): string {
  // Clients repeat a call that is UNAVAILABLE.
  if (status === 502 && !retryable) return "INTERNAL";
  return WORDS[status] ?? (status < 500 ? "INVALID_ARGUMENT" : "INTERNAL");
}

function details(error: GatewayError, requestId: string): readonly JsonObject[] {
  const { code, param, message, retryAfterMs } = error;
  const info = {
    "@type": `${TYPE}.ErrorInfo`,
    reason: code.toUpperCase(),
    domain: "sluice",
    metadata: { requestId },
  };
  const field = {
    "@type": `${TYPE}.BadRequest`,
    fieldViolations: [{ field: param ?? "", description: message }],
  };
  const retry = { "@type": `${TYPE}.RetryInfo`, retryDelay: seconds(retryAfterMs ?? 0) };
  return [
    info,
    ...(param === undefined ? [] : [field]),
    ...(retryAfterMs === undefined ? [] : [retry]),
  ];
}

/** A duration in JSON of protocol buffers: `1.5s`. */
function seconds(milliseconds: number): string {
  return `${Math.ceil(milliseconds) / 1_000}s`;
}
