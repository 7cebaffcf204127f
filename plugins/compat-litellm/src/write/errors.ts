/**
 * Errors as LiteLLM 1.106 has them, where its clients compare the status or the code. Every other
 * error keeps its status; its code is the name of the error.
 */

import type { EdgeError, ErrorCode, GatewayError } from "@sluice/contract";

const FORMS: Partial<Record<ErrorCode, EdgeError>> = {
  authentication_failed: { code: "401", type: "auth_error" },
  permission_denied: { code: "403", type: "auth_error" },
  // LiteLLM answers 400 for an unknown model. One that the key may not use looks the same here.
  model_not_found: { status: 400, code: "400", type: "invalid_request_error" },
  budget_exceeded: { status: 422, code: "422", type: "budget_exceeded" },
  rate_limited: { code: "429" },
  upstream_rate_limited: { code: "429", type: "throttling_error" },
  invalid_json: { code: "400" },
  invalid_field: { code: "400" },
};

/** The form of an error; `undefined` where it is the gateway's own. */
export function litellmError({ code }: GatewayError): EdgeError | undefined {
  return FORMS[code];
}
