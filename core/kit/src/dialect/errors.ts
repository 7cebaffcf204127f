/**
 * Converts a provider's errors to the gateway's. Status and kind select the class; phrases identify
 * a full context and refused content.
 */

import {
  type ErrorCode,
  type ErrorReply,
  GatewayError,
  type GatewayErrorOptions,
  type JsonObject,
  type ProviderWords,
} from "@sluice/contract";
import { isObject } from "../json/narrow.ts";
import { parseJson } from "../json/parse.ts";
import { table } from "../json/table.ts";
import { scrub } from "../openai/scrub.ts";
import { readRetryAfterMs } from "../transport/calls/retry-after.ts";
import { REFUSAL_WORDS, type RefusalClass } from "./fields/refusal-words.ts";

/** The class of a failure. It decides about retries, another key and another model. */
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

/** A provider's names for a failure. */
export interface FailureWords {
  readonly type?: string | undefined;
  readonly code?: string | number | undefined;
}

/** A provider's error, as read. */
export interface UpstreamFailure {
  /** The status of the reply; absent for an error inside a 200 or a stream. */
  readonly status?: number;
  /** The provider's message. */
  readonly message?: string | undefined;
  /** The provider's names for kind and code: `wordsOf` reads them. */
  readonly words?: FailureWords | undefined;
  /** The class, where the provider's kind is more precise than the status. */
  readonly failure?: FailureClass | undefined;
  readonly retryAfterMs?: number | undefined;
  /** The parameter that the provider names. */
  readonly param?: string | undefined;
}

const CODES = table<RefusalClass>(
  Object.fromEntries(
    REFUSAL_WORDS.flatMap(({ code, means }) => (code === undefined ? [] : [[code, means]])),
  ),
);
const CONTEXT = textsOf("context_window");
const POLICY = textsOf("content_policy");
/** For a 403: a message about a model concerns that model, not the credential. */
const MODEL = /\bmodels?\b/i;
/** For a 401, which is about the credential unless its message names the access to a model. */
const MODEL_ACCESS = /\baccess\b[^.]{0,40}\bmodel\b|\bmodel\b[^.]{0,80}\baccess\b/i;

/** One expression for all texts of a class. */
function textsOf(means: RefusalClass): RegExp {
  return new RegExp(
    REFUSAL_WORDS.flatMap((row) =>
      row.text !== undefined && row.means === means ? [row.text.source] : [],
    ).join("|"),
    "i",
  );
}

/**
 * The refused object by the provider's codes and message, from the table `REFUSAL_WORDS`;
 * `undefined` when they match neither class. Codes win.
 */
export function refusalOf(
  message: string | undefined,
  ...codes: readonly unknown[]
): RefusalClass | undefined {
  const known = codes.find(
    (code): code is string => typeof code === "string" && CODES[code] !== undefined,
  );
  if (known !== undefined) return CODES[known];
  if (message === undefined) return undefined;
  if (CONTEXT.test(message)) return "context_window";
  return POLICY.test(message) ? "content_policy" : undefined;
}

/**
 * The object of a refusal with status 401 or 403: the request's content, one model, or the
 * credential. `code` is the provider's own.
 */
export function refusedClass(
  status: number | undefined,
  message: string | undefined,
  code?: string,
): "auth" | "model" | "content_policy" {
  if (status === 403 && (refusalOf(undefined, code) ?? refusalOf(message)) === "content_policy")
    return "content_policy";
  if (code === "model_not_found") return "model";
  const words = status === 403 ? MODEL : MODEL_ACCESS;
  return message !== undefined && words.test(message) ? "model" : "auth";
}

/**
 * The names in an error object: `type`, or Google's `status` and Stability's `name`; `code`, or the
 * code of an inner error.
 */
export function wordsOf(error: JsonObject): FailureWords {
  const { type, status, name, code, innererror: inner } = error;
  const innerCode = isObject(inner) ? inner.code : undefined;
  return {
    type: [type, status, name].find((word) => typeof word === "string"),
    code: [code, innerCode].find((word) => typeof word === "string" || typeof word === "number"),
  };
}

const MAX_WORD_CHARACTERS = 100;

/**
 * The provider's names and message for the client; `undefined` when it sent none. A message about
 * the account is left out.
 */
function providerWords(
  { status, words = {}, message }: UpstreamFailure,
  isOfAccount: boolean,
): ProviderWords | undefined {
  const { type, code } = words;
  if (status === undefined && type === undefined && code === undefined) return undefined;
  const short = (word: string): string => scrub(word).slice(0, MAX_WORD_CHARACTERS);
  return {
    status: status ?? null,
    type: type === undefined ? null : short(type),
    code: typeof code === "string" ? short(code) : (code ?? null),
    message: message === undefined || message === "" || isOfAccount ? null : scrub(message),
  };
}

/** Codes that add nothing to the status. */
const GENERIC = /invalid_request|^(?:bad_?request|not_?found)$/i;

/** The message followed by the provider's code: clients search the text for it. */
function named(message: string, { code }: FailureWords = {}): string {
  if (
    typeof code !== "string" ||
    !/^[a-z][\w.-]{0,63}$/i.test(code) ||
    GENERIC.test(code) ||
    message.includes(code)
  )
    return message;
  // A text like a credential is not a code.
  if (scrub(code) !== code) return message;
  return `${message} (${code})`;
}

/** The gateway's error for one class of failures. */
interface ErrorForm {
  readonly code: ErrorCode;
  /** The message where the provider sent none, or its own is not shown. */
  readonly message: (status: number | undefined) => string;
  /** What the client sees of the provider's message. */
  readonly shows: "nothing" | "text" | "text and code";
  readonly options?: (failure: UpstreamFailure) => GatewayErrorOptions;
}

const FORMS: Readonly<Record<FailureClass, ErrorForm>> = {
  model: {
    code: "upstream_model_denied",
    message: (status) =>
      `The provider's account has no access to this model${inBrackets(status)}; ask for another model, or have the operator enable it.`,
    // The provider's message names accounts and projects.
    shows: "nothing",
  },
  auth: {
    code: "upstream_auth_failed",
    message: (status) => `The upstream refused the gateway's credential${withStatus(status)}.`,
    shows: "nothing",
  },
  quota: {
    code: "upstream_rate_limited",
    message: () => "The upstream's quota is spent.",
    shows: "text and code",
    // A spent quota returns with the next period. Official clients would repeat the 429 at once.
    options: () => ({ retryable: false, headers: { "x-should-retry": "false" } }),
  },
  rate_limit: {
    code: "upstream_rate_limited",
    message: () => "The upstream's rate limit is reached.",
    shows: "text and code",
    options: waitOf,
  },
  overloaded: {
    code: "upstream_overloaded",
    message: () => "The upstream is overloaded.",
    shows: "text",
    options: waitOf,
  },
  timeout: {
    code: "upstream_timeout",
    message: (status) => `The upstream timed out${withStatus(status)}.`,
    shows: "nothing",
    options: waitOf,
  },
  context_window: {
    code: "context_length_exceeded",
    message: () => "The prompt does not fit the model's context window.",
    shows: "text and code",
    options: paramOf,
  },
  content_policy: {
    code: "content_policy_violation",
    message: () => "The upstream's content policy refused the request.",
    shows: "text and code",
    options: paramOf,
  },
  bad_request: {
    code: "upstream_rejected",
    message: (status) => `The upstream refused the request${withStatus(status)}.`,
    shows: "text and code",
    options: (failure) => ({ ...paramOf(failure), status: clientStatus(failure.status) }),
  },
  server: {
    code: "upstream_failed",
    message: (status) => `The upstream failed${withStatus(status)}.`,
    shows: "text",
    // A retry does not change the result of an unknown status. 424: a model behind the upstream
    // failed (Bedrock).
    options: (failure) => {
      const { status = 500 } = failure;
      const mayPass = status >= 500 || status === 409 || status === 424;
      return mayPass ? waitOf(failure) : { retryable: false };
    },
  },
};

/** The gateway's error for a failure. Messages are scrubbed of keys, URLs and ids. */
export function upstreamError(given: UpstreamFailure): GatewayError {
  const { status, words } = given;
  const known = given.failure ?? refusedIn(given) ?? classOf(status);
  const failure = known === "auth" ? refusedClass(status, given.message, codeText(words)) : known;
  const { code, message, shows, options } = FORMS[failure];
  const hasText = given.message !== undefined && given.message !== "" && shows !== "nothing";
  const text = hasText ? scrub(given.message) : message(status);
  return new GatewayError(code, shows === "text and code" ? named(text, words) : text, {
    provider: providerWords(given, failure === "auth" || failure === "model"),
    ...options?.(given),
  });
}

function waitOf({ retryAfterMs }: UpstreamFailure): GatewayErrorOptions {
  return retryAfterMs === undefined ? {} : { retryAfterMs };
}

function paramOf({ param }: UpstreamFailure): GatewayErrorOptions {
  return param === undefined ? {} : { param: scrub(param) };
}

function clientStatus(status = 400): number {
  return status >= 400 && status < 500 ? status : 400;
}

function codeText(words: FailureWords = {}): string | undefined {
  return typeof words.code === "string" ? words.code : undefined;
}

/** The refused object, where the status allows a refusal or is absent. */
function refusedIn({ status, message, words = {} }: UpstreamFailure): FailureClass | undefined {
  const isRefusal =
    status === undefined || status === 400 || status === 404 || status === 413 || status === 422;
  return isRefusal ? refusalOf(message, words.code, words.type) : undefined;
}

function classOf(status: number | undefined): FailureClass {
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
      return "bad_request";
    default:
      return "server";
  }
}

function withStatus(status: number | undefined): string {
  return status === undefined ? "" : ` with status ${status}`;
}

/**
 * Reads an error reply: its object, and the wait before a retry. `read` finds message and class in
 * the object. With an unreadable body the status alone decides.
 */
export function readFailure(
  reply: ErrorReply,
  read: (body: JsonObject, status: number) => Omit<UpstreamFailure, "status">,
): GatewayError {
  const body = errorBodyOf(reply.body);
  const said = body === undefined ? {} : read(body, reply.status);
  const words = body === undefined ? undefined : wordsOf(isObject(body.error) ? body.error : body);
  return upstreamError({
    status: reply.status,
    words,
    ...said,
    retryAfterMs: said.retryAfterMs ?? readRetryAfterMs(reply.headers),
  });
}

/** The object of an error body. Of a list, which some upstreams send, the first item. */
export function errorBodyOf(body: string): JsonObject | undefined {
  let value: unknown;
  try {
    value = parseJson(body);
  } catch {
    return undefined;
  }
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return isObject(first) ? first : undefined;
}

function inBrackets(status: number | undefined): string {
  return status === undefined ? "" : ` (status ${status})`;
}
