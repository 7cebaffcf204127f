/** The errors of requests that guardrails refuse. */

import { GatewayError, isGatewayError } from "@sluice/contract";
import { GuardFailure } from "./failure.ts";

/**
 * A refused reply that may be requested once more. Only the step that allowed it sees this error.
 */
export class AskAgain extends Error {
  readonly guardrail: string;

  constructor(guardrail: string) {
    super(`The guardrail ${guardrail} asks for the reply once more.`);
    this.name = "AskAgain";
    this.guardrail = guardrail;
  }
}

/** The error of a block. It names the guardrail and no part of the text. */
export function violation(guardrail: string): GatewayError {
  return new GatewayError(
    "guardrail_violation",
    `The guardrail ${guardrail} blocked this request.`,
    { param: guardrail },
  );
}

/**
 * The error of a request whose required guardrail returned no verdict. A long text and a lack of
 * places are not failures of the guardrail.
 */
export function guardFailed(guardrail: string, cause: unknown): GatewayError {
  if (cause instanceof GuardFailure && cause.kind === "text_too_long")
    return new GatewayError("guardrail_violation", cause.message, { param: guardrail });
  if (cause instanceof GuardFailure && cause.kind === "busy" && isGatewayError(cause.thrown))
    return cause.thrown;
  const message = `The guardrail ${guardrail} failed, and its policy refuses requests without a verdict.`;
  return new GatewayError("plugin_failed", message, { param: guardrail, cause });
}
