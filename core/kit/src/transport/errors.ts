/** Reads undici's and Node's socket errors. */

import { GatewayError, isGatewayError } from "@sluice/contract";

const TIMEOUTS = new Set(["UND_ERR_CONNECT_TIMEOUT", "ETIMEDOUT"]);
const LOST = new Set(["UND_ERR_SOCKET", "ECONNRESET", "EPIPE"]);
const UNREADABLE = new Set([
  "UND_ERR_RES_CONTENT_LENGTH_MISMATCH",
  "UND_ERR_HEADERS_OVERFLOW",
  "UND_ERR_RES_EXCEEDED_MAX_SIZE",
]);

/**
 * The gateway's error for a failed transport. undici's parser errors carry no code, so the class
 * name counts as well. The message names the kind of failure, never a host.
 */
export function transportError(error: Error & { code?: string }): GatewayError {
  const code = error.code ?? "";
  if (TIMEOUTS.has(code)) {
    return new GatewayError(
      "upstream_timeout",
      "The connection to the upstream could not be opened in time.",
      { cause: error },
    );
  }
  if (UNREADABLE.has(code) || error.name === "HTTPParserError") {
    return new GatewayError(
      "upstream_invalid_response",
      "The upstream's response is not valid HTTP.",
      { cause: error },
    );
  }
  if (code.startsWith("CERT_") || code.startsWith("ERR_TLS_") || code.includes("CERT")) {
    return new GatewayError(
      "upstream_unreachable",
      "The upstream's TLS certificate was not accepted.",
      {
        cause: error,
        retryable: false,
      },
    );
  }
  return new GatewayError("upstream_unreachable", "The connection to the upstream failed.", {
    cause: error,
  });
}

/** Whether an open connection was lost. */
export function isConnectionLost(error: Error & { code?: string }): boolean {
  return LOST.has(error.code ?? "");
}

/** A GatewayError unchanged; any other error is a fault of the plugin that threw it. */
export function asGatewayError(error: unknown): GatewayError {
  if (isGatewayError(error)) return error;
  return new GatewayError("plugin_failed", "The provider plugin failed on this request.", {
    cause: error,
  });
}

/** The reason of an abort as an Error. */
export function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}
