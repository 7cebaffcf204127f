/** Failures before a connection to the upstream was open, by the code of their cause. */

import type { GatewayError } from "@sluice/contract";

/** No connection was opened, so the request's content is not the cause. */
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

/** Whether an attempt failed because no connection to the upstream could be opened. */
export function neverConnected({ cause }: GatewayError): boolean {
  const code =
    cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : "";
  return (
    NOT_OPENED.has(code) ||
    code.startsWith("CERT_") ||
    code.startsWith("ERR_TLS_") ||
    code.startsWith("ERR_SSL_")
  );
}
