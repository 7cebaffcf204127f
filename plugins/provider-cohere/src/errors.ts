/**
 * Cohere's errors (docs.cohere.com/reference/errors): `{id, message}`; the status decides about the
 * class.
 */

import { Failures, readFailure, type UpstreamFailure } from "@sluice/kit/dialect";
import type { ErrorReply, GatewayError } from "@sluice/contract";

/** The gateway's error of a reply whose status is not 2xx. */
export function readError(reply: ErrorReply): GatewayError {
  return readFailure(reply, ({ message }, status) => {
    const said = typeof message === "string" ? message : undefined;
    return { message: said, failure: classOf(status, said) };
  });
}

function classOf(status: number, said = ""): UpstreamFailure["failure"] {
  // The month's calls of a trial key are spent: another try does not help before the next one.
  if (status === 429 && /\/ ?month|per month/i.test(said)) return "quota";
  // 498 is an invalid token in the SDK, and a blocked input or output in older replies.
  if (status === 498) return Failures.refusalOf(said) ?? "auth";
  if (status === 499) return "server";
  return undefined;
}
