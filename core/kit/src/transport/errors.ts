/** Reads undici's and Node's socket errors. */

import { GatewayError, isGatewayError } from "@sluice/spec";

const TIMEOUTS = new Set(["UND_ERR_CONNECT_TIMEOUT", "ETIMEDOUT"]);
const LOST = new Set(["UND_ERR_SOCKET", "ECONNRESET", "EPIPE"]);
const UNREADABLE = new Set(["UND_ERR_RES_CONTENT_LENGTH_MISMATCH", "UND_ERR_HEADERS_OVERFLOW", "UND_ERR_RES_EXCEEDED_MAX_SIZE"]);

/** No connection was opened: nothing that a request holds has caused it. */
const NOT_OPENED = new Set([
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "EHOSTDOWN",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
  "UND_ERR_CONNECT_TIMEOUT",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
]);

/**
 * The gateway's error of a failed transport. undici's parser errors carry no code, so the class name counts as well.
 * The message names the kind of failure, never a host.
 */
export function transportError(error: Error & { code?: string }): GatewayError {
  const code = error.code ?? "";
  if (TIMEOUTS.has(code)) {
    return new GatewayError("upstream_timeout", "The connection to the upstream could not be opened in time.", { cause: error });
  }
  if (UNREADABLE.has(code) || error.name === "HTTPParserError") {
    return new GatewayError("upstream_invalid_response", "The upstream's response is not valid HTTP.", { cause: error });
  }
  if (code.startsWith("CERT_") || code.startsWith("ERR_TLS_") || code.includes("CERT")) {
    return new GatewayError("upstream_unreachable", "The upstream's TLS certificate was not accepted.", {
      cause: error,
      retryable: false,
    });
  }
  return new GatewayError("upstream_unreachable", "The connection to the upstream failed.", { cause: error });
}

/** Whether an attempt failed because no connection to the upstream could be opened. */
export function neverConnected({ cause }: GatewayError): boolean {
  const code = cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : "";
  return NOT_OPENED.has(code) || code.startsWith("CERT_") || code.startsWith("ERR_TLS_") || code.startsWith("ERR_SSL_");
}

/** Whether a connection that was open is lost. */
export function isConnectionLost(error: Error & { code?: string }): boolean {
  return LOST.has(error.code ?? "");
}

/** A GatewayError as it is; anything else is a fault of the plugin that threw it. */
export function asGatewayError(error: unknown): GatewayError {
  if (isGatewayError(error)) return error;
  return new GatewayError("plugin_failed", "The provider plugin failed on this request.", { cause: error });
}
