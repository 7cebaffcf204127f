/** A provider's errors as the gateway's: status and kind decide the class, phrases tell a full context and a refused content. */

import { type ErrorReply, GatewayError, type GatewayErrorOptions, type JsonObject } from "@sluice/spec";
import { isObject } from "../json/narrow.ts";
import { scrub } from "../openai/scrub.ts";
import { readRetryAfterMs } from "../transport/retry-after.ts";

/** What a failure is. The class decides about another try, another key and another model. */
export type FailureClass =
  | "auth"
  /** The credential works, and its account has no access to this one model. */
  | "model"
  | "quota"
  | "rate_limit"
  | "overloaded"
  | "timeout"
  | "context_window"
  | "content_policy"
  | "bad_request"
  | "server";

/** What a provider's error says. */
export interface UpstreamFailure {
  /** The status of the reply; absent for an error inside a 200 or a stream. */
  readonly status?: number;
  /** The provider's own message. */
  readonly message?: string | undefined;
  /** The class, where the provider's kind tells more than the status does. */
  readonly failure?: FailureClass | undefined;
  readonly retryAfterMs?: number | undefined;
  /** The parameter that the provider names. */
  readonly param?: string | undefined;
}

const CONTEXT =
  /context[_ ](?:length|window)|maximum context|prompt is too long|input is too long|too many (?:input )?tokens|exceeds? the (?:maximum|model'?s)[^.]{0,40}token|input length and .?max_tokens.? exceed|token count[^.]{0,60}exceeds/i;
const POLICY =
  /content[_ ]?(?:policy|filter|management)|safety (?:system|policy)|usage (?:polic|guideline)|content violates|(?:input|prompt|request|content|image) (?:was|has been|is) flagged|moderation|responsibleai/i;
/** Of a 403: what is said of a model concerns that model, not the credential. */
const MODEL = /\bmodels?\b/i;
/** Of a 401, which is about the credential unless it says otherwise. */
const MODEL_ACCESS = /\baccess\b[^.]{0,40}\bmodel\b|\bmodel\b[^.]{0,80}\baccess\b/i;

/** Whether a provider's message says that the prompt does not fit. */
export function saysContextWindow(message: string | undefined): boolean {
  return message !== undefined && CONTEXT.test(message);
}

/** Whether a provider's message says that its content policy refuses. */
export function saysContentPolicy(message: string | undefined): boolean {
  return message !== undefined && POLICY.test(message);
}

/**
 * What a refusal with status 401 or 403 concerns: what the request holds, one model, or the credential. `code` is the
 * provider's own word.
 */
export function refusedClass(
  status: number | undefined,
  message: string | undefined,
  code?: string,
): "auth" | "model" | "content_policy" {
  if (status === 403 && saysContentPolicy(message)) return "content_policy";
  if (code === "model_not_found") return "model";
  const words = status === 403 ? MODEL : MODEL_ACCESS;
  return message !== undefined && words.test(message) ? "model" : "auth";
}

/** The error of a model that the provider's account lacks. The provider's words name accounts and projects, and are left out. */
export function modelDenied(status: number | undefined): GatewayError {
  return new GatewayError(
    "upstream_model_denied",
    `The provider's account has no access to this model${inBrackets(status)}; ask for another model, or have the operator enable it.`,
  );
}

/** The gateway's error of a failure. Messages are scrubbed of keys, URLs and ids. */
export function upstreamError(given: UpstreamFailure): GatewayError {
  const { status, retryAfterMs } = given;
  const message = given.message === undefined || given.message === "" ? undefined : scrub(given.message);
  const wait: GatewayErrorOptions = retryAfterMs === undefined ? {} : { retryAfterMs };
  const known = given.failure ?? classOf(status, given.message);
  const failure = known === "auth" ? refusedClass(status, given.message) : known;
  switch (failure) {
    case "model":
      return modelDenied(status);
    case "auth":
      return new GatewayError("upstream_auth_failed", `The upstream refused the gateway's credential${withStatus(status)}.`);
    case "quota":
      return new GatewayError("upstream_rate_limited", message ?? "The upstream's quota is spent.", { retryable: false });
    case "rate_limit":
      return new GatewayError("upstream_rate_limited", message ?? "The upstream's rate limit is reached.", wait);
    case "overloaded":
      return new GatewayError("upstream_overloaded", message ?? "The upstream is overloaded.", wait);
    case "timeout":
      return new GatewayError("upstream_timeout", `The upstream gave up${withStatus(status)}.`);
    case "context_window":
      return new GatewayError("context_length_exceeded", message ?? "The prompt does not fit the model's context window.");
    case "content_policy":
      return new GatewayError("content_policy_violation", message ?? "The upstream's content policy refused the request.");
    case "bad_request":
      return new GatewayError("upstream_rejected", message ?? `The upstream refused the request${withStatus(status)}.`, {
        status: status !== undefined && status >= 400 && status < 500 ? status : 400,
        ...(given.param === undefined ? {} : { param: scrub(given.param) }),
      });
    case "server":
      return serverError(status, message);
    default:
      return failure satisfies never;
  }
}

function serverError(status: number | undefined, message: string | undefined): GatewayError {
  // A status that no table has is nothing that another try would change. 424: a model behind the upstream failed (Bedrock).
  const isOdd = status !== undefined && status < 500 && status !== 409 && status !== 424;
  return new GatewayError(
    "upstream_failed",
    message ?? `The upstream failed${withStatus(status)}.`,
    isOdd ? { retryable: false } : {},
  );
}

function classOf(status: number | undefined, message: string | undefined): FailureClass {
  switch (status) {
    case 401:
    case 402:
    case 403:
      return "auth";
    case 429:
      return "rate_limit";
    case 408:
    case 504:
      return "timeout";
    case 503:
    case 529:
      return "overloaded";
    case 400:
    case 404:
    case 413:
    case 422:
      if (saysContextWindow(message)) return "context_window";
      return saysContentPolicy(message) ? "content_policy" : "bad_request";
    default:
      return "server";
  }
}

function withStatus(status: number | undefined): string {
  return status === undefined ? "" : ` with status ${status}`;
}

/**
 * Reads an error reply: its object, and how long to wait. `read` finds message and class in the object; an unreadable body
 * leaves the status alone to decide.
 */
export function readFailure(
  reply: ErrorReply,
  read: (body: JsonObject, status: number) => Omit<UpstreamFailure, "status">,
): GatewayError {
  const body = errorBodyOf(reply.body);
  const said = body === undefined ? {} : read(body, reply.status);
  return upstreamError({
    status: reply.status,
    ...said,
    retryAfterMs: said.retryAfterMs ?? readRetryAfterMs(reply.headers),
  });
}

/** The object of an error body; the first of a list, which some send. */
export function errorBodyOf(body: string): JsonObject | undefined {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return undefined;
  }
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return isObject(first) ? first : undefined;
}

function inBrackets(status: number | undefined): string {
  return status === undefined ? "" : ` (status ${status})`;
}
