/** A provider's errors as the gateway's: status and kind decide the class, phrases tell a full context and a refused content. */

import { type ErrorReply, GatewayError, type GatewayErrorOptions, type JsonObject, type ProviderWords } from "@sluice/spec";
import { isObject } from "../json/narrow.ts";
import { table } from "../json/table.ts";
import { scrub } from "../openai/scrub.ts";
import { readRetryAfterMs } from "../transport/retry-after.ts";
import { REFUSAL_WORDS, type RefusalClass } from "./refusal-words.ts";

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

/** The words that a provider has for a failure. */
export interface FailureWords {
  readonly type?: string | undefined;
  readonly code?: string | number | undefined;
}

/** What a provider's error says. */
export interface UpstreamFailure {
  /** The status of the reply; absent for an error inside a 200 or a stream. */
  readonly status?: number;
  /** The provider's own message. */
  readonly message?: string | undefined;
  /** The provider's own words for kind and code: `wordsOf` reads them. */
  readonly words?: FailureWords | undefined;
  /** The class, where the provider's kind tells more than the status does. */
  readonly failure?: FailureClass | undefined;
  readonly retryAfterMs?: number | undefined;
  /** The parameter that the provider names. */
  readonly param?: string | undefined;
}

const CODES = table<RefusalClass>(
  Object.fromEntries(REFUSAL_WORDS.flatMap(({ code, means }) => (code === undefined ? [] : [[code, means]]))),
);
const CONTEXT = textsOf("context_window");
const POLICY = textsOf("content_policy");
/** Of a 403: what is said of a model concerns that model, not the credential. */
const MODEL = /\bmodels?\b/i;
/** Of a 401, which is about the credential unless it says otherwise. */
const MODEL_ACCESS = /\baccess\b[^.]{0,40}\bmodel\b|\bmodel\b[^.]{0,80}\baccess\b/i;

/** All texts of a class in one expression. */
function textsOf(means: RefusalClass): RegExp {
  return new RegExp(
    REFUSAL_WORDS.flatMap((row) => (row.text !== undefined && row.means === means ? [row.text.source] : [])).join("|"),
    "i",
  );
}

/** What a provider's codes and message refuse, by the table `REFUSAL_WORDS`; `undefined` where they name neither class. Codes win. */
export function refusalOf(message: string | undefined, ...codes: readonly unknown[]): RefusalClass | undefined {
  const known = codes.find((code): code is string => typeof code === "string" && CODES[code] !== undefined);
  if (known !== undefined) return CODES[known];
  if (message === undefined) return undefined;
  if (CONTEXT.test(message)) return "context_window";
  return POLICY.test(message) ? "content_policy" : undefined;
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
  if (status === 403 && (refusalOf(undefined, code) ?? refusalOf(message)) === "content_policy") return "content_policy";
  if (code === "model_not_found") return "model";
  const words = status === 403 ? MODEL : MODEL_ACCESS;
  return message !== undefined && words.test(message) ? "model" : "auth";
}

/** The words of an error object: `type`, or Google's `status` and Stability's `name`; `code`, or that of an inner error. */
export function wordsOf(error: JsonObject): FailureWords {
  const { type, status, name, code, innererror: inner } = error;
  const innerCode = isObject(inner) ? inner.code : undefined;
  return {
    type: [type, status, name].find((word) => typeof word === "string"),
    code: [code, innerCode].find((word) => typeof word === "string" || typeof word === "number"),
  };
}

const MAX_WORD_CHARACTERS = 100;

/** The provider's words for the client; `undefined` where it said none. Its message is left out where it is about the account. */
function providerWords({ status, words = {}, message }: UpstreamFailure, isOfAccount: boolean): ProviderWords | undefined {
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

/** Codes that say no more than the status does. */
const GENERIC = /invalid_request|^(?:bad_?request|not_?found)$/i;

/** The message with the provider's code behind it: clients look for that word in the text. */
function named(message: string, { code }: FailureWords = {}): string {
  if (typeof code !== "string" || !/^[a-z][\w.-]{0,63}$/i.test(code) || GENERIC.test(code) || message.includes(code))
    return message;
  return `${message} (${code})`;
}

/** The gateway's error of a failure. Messages are scrubbed of keys, URLs and ids. */
export function upstreamError(given: UpstreamFailure): GatewayError {
  const { status, retryAfterMs, words } = given;
  const text = given.message === undefined || given.message === "" ? undefined : scrub(given.message);
  const known = given.failure ?? refusedIn(given) ?? classOf(status);
  const failure = known === "auth" ? refusedClass(status, given.message, codeText(words)) : known;
  const provider = providerWords(given, failure === "auth" || failure === "model");
  const wait: GatewayErrorOptions = retryAfterMs === undefined ? { provider } : { retryAfterMs, provider };
  const param = given.param === undefined ? {} : { param: scrub(given.param) };
  const say = (otherwise: string): string => named(text ?? otherwise, words);
  switch (failure) {
    case "model":
      return new GatewayError(
        "upstream_model_denied",
        // The provider's words name accounts and projects.
        `The provider's account has no access to this model${inBrackets(status)}; ask for another model, or have the operator enable it.`,
        { provider },
      );
    case "auth":
      return new GatewayError("upstream_auth_failed", `The upstream refused the gateway's credential${withStatus(status)}.`, {
        provider,
      });
    case "quota":
      return new GatewayError("upstream_rate_limited", say("The upstream's quota is spent."), {
        retryable: false,
        provider,
        // A spent quota comes back with the next period: official clients would repeat the 429 at once.
        headers: { "x-should-retry": "false" },
      });
    case "rate_limit":
      return new GatewayError("upstream_rate_limited", say("The upstream's rate limit is reached."), wait);
    case "overloaded":
      return new GatewayError("upstream_overloaded", text ?? "The upstream is overloaded.", wait);
    case "timeout":
      return new GatewayError("upstream_timeout", `The upstream gave up${withStatus(status)}.`, { provider });
    case "context_window":
      return new GatewayError("context_length_exceeded", say("The prompt does not fit the model's context window."), {
        provider,
        ...param,
      });
    case "content_policy":
      return new GatewayError("content_policy_violation", say("The upstream's content policy refused the request."), {
        provider,
        ...param,
      });
    case "bad_request":
      return new GatewayError("upstream_rejected", say(`The upstream refused the request${withStatus(status)}.`), {
        status: status !== undefined && status >= 400 && status < 500 ? status : 400,
        provider,
        ...param,
      });
    case "server":
      return serverError(status, text, provider);
    default:
      return failure satisfies never;
  }
}

function codeText(words: FailureWords = {}): string | undefined {
  return typeof words.code === "string" ? words.code : undefined;
}

function serverError(status: number | undefined, message: string | undefined, provider: ProviderWords | undefined): GatewayError {
  // A status that no table has is nothing that another try would change. 424: a model behind the upstream failed (Bedrock).
  const isOdd = status !== undefined && status < 500 && status !== 409 && status !== 424;
  return new GatewayError("upstream_failed", message ?? `The upstream failed${withStatus(status)}.`, {
    provider,
    ...(isOdd ? { retryable: false } : {}),
  });
}

/** What a refusal refuses: where the status lets it be one, or nothing has a status. */
function refusedIn({ status, message, words = {} }: UpstreamFailure): FailureClass | undefined {
  const isRefusal = status === undefined || status === 400 || status === 404 || status === 413 || status === 422;
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
 * Reads an error reply: its object, and how long to wait. `read` finds message and class in the object; an unreadable body
 * leaves the status alone to decide.
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
