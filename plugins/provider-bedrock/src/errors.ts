/**
 * Bedrock's errors: the exception's name decides, whether it comes as a reply or within a stream.
 */

import { type FailureClass, Failures, Members, upstreamError } from "@sluice/kit/dialect";
import { readRetryAfterMs } from "@sluice/kit/transport";
import type { ErrorReply, GatewayError, JsonObject } from "@sluice/contract";

/**
 * Classes of exceptions (`errors.d.ts` of @aws-sdk/client-bedrock-runtime 3.1162.0; the last ones
 * are common to all services: docs.aws.amazon.com/bedrock/latest/APIReference/CommonErrors.html).
 * Streams write the names with a small first letter.
 */
const FAILURES = Members.table<FailureClass>({
  throttlingexception: "rate_limit",
  toomanyrequestsexception: "rate_limit",
  servicequotaexceededexception: "quota",
  modelnotreadyexception: "overloaded",
  serviceunavailableexception: "overloaded",
  modeltimeoutexception: "timeout",
  modelerrorexception: "server",
  modelstreamerrorexception: "server",
  internalserverexception: "server",
  internalfailure: "server",
  unrecognizedclientexception: "auth",
  invalidsignatureexception: "auth",
  incompletesignature: "auth",
  expiredtokenexception: "auth",
  missingauthenticationtoken: "auth",
  optinrequired: "auth",
});

/** A missing permission concerns one model; a refused key concerns all of them. */
const ONE_MODEL = /\bmodel\b|not authorized to perform/i;

/** The gateway's error of a reply whose status is not 2xx. */
export function readError(reply: ErrorReply): GatewayError {
  const body = Failures.bodyOf(reply.body) ?? {};
  return failure(nameOf(reply, body), body, reply.status, readRetryAfterMs(reply.headers));
}

/** The gateway's error of an exception within a stream. */
export function exceptionOf(name: string, data: string): GatewayError {
  return failure(name, Failures.bodyOf(data) ?? {}, undefined, undefined);
}

function failure(
  name: string,
  body: JsonObject,
  status: number | undefined,
  retryAfterMs: number | undefined,
): GatewayError {
  const said = body.message ?? body.Message;
  const message = typeof said === "string" ? said : undefined;
  const kind = name.toLowerCase();
  const words = { ...Failures.wordsOf(body), type: name === "" ? undefined : name };
  switch (kind) {
    case "accessdeniedexception":
      if (message === undefined || !ONE_MODEL.test(message))
        return upstreamError({ ...given(status), words, failure: "auth" });
      return upstreamError({ ...given(status), words, failure: "model" });
    case "validationexception":
    case "resourcenotfoundexception":
      return upstreamError({
        ...given(status),
        words,
        message,
        failure: Failures.refusalOf(message) ?? "bad_request",
      });
    default:
      return upstreamError({
        ...given(status),
        words,
        message,
        failure: FAILURES[kind],
        retryAfterMs,
      });
  }
}

function given(status: number | undefined): { readonly status?: number } {
  return status === undefined ? {} : { status };
}

/**
 * `ThrottlingException:http://internal.amazon.com/…` in a header,
 * `com.amazon.coral.service#ThrottlingException` in a body.
 */
function nameOf({ headers }: ErrorReply, body: JsonObject): string {
  const header = headers["x-amzn-errortype"];
  const name =
    typeof header === "string" ? header : typeof body.__type === "string" ? body.__type : "";
  return (name.split(":")[0] ?? "").replace(/^.*#/, "");
}
