/** Failures of guardrails. */

import { GatewayError } from "@sluice/contract";

/** After a check that found no free place. */
const RETRY_AFTER_MS = 1_000;

/**
 * A guardrail that returned no verdict. The message names the guardrail and the kind of failure,
 * never the text.
 */
export class GuardFailure extends Error {
  readonly guardrail: string;
  /**
   * The guardrail's error. It may quote the text: it is for the guardrail's own sample, never for a
   * log.
   */
  readonly thrown: unknown;
  /** The predicate of the message, after the guardrail's name: "threw". */
  readonly what: string;
  /**
   * `text_too_long`: the guardrail was not called. `busy`: the key had no free place; `thrown` is
   * the refusal.
   */
  readonly kind: "failed" | "text_too_long" | "busy";

  constructor(
    guardrail: string,
    what: string,
    kind: GuardFailure["kind"] = "failed",
    thrown?: unknown,
  ) {
    super(`The guardrail ${guardrail} ${what}.`);
    this.name = "GuardFailure";
    this.what = what;
    this.kind = kind;
    this.guardrail = guardrail;
    this.thrown = thrown;
  }
}

/** The refusal of a check that waited for a place longer than its budget. */
export function noPlace(name: string, budgetMs: number): GatewayError {
  const message = `The guardrail ${name} had no free place for this key within ${budgetMs} ms. Send fewer concurrent requests.`;
  return new GatewayError("overloaded", message, { retryAfterMs: RETRY_AFTER_MS });
}
