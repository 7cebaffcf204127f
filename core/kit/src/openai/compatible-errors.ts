/** Errors of upstreams that speak the reference dialect with names and codes of their own. */

import type { ErrorReply, GatewayError, JsonObject, JsonValue } from "@sluice/contract";
import { type FailureClass, readFailure, refusalOf, refusedClass } from "../dialect/errors.ts";
import { isObject } from "../json/narrow.ts";

/**
 * Classes by the upstream's `code`, `type` or inner error's code. The status decides about unknown
 * names.
 */
export type ErrorWords = Readonly<Record<string, FailureClass>>;

/** Names with the same class in every field. The table of refusals has the names of refusals. */
const COMMON: ErrorWords = { insufficient_quota: "quota" };

const WRONG_KEY = /\b(?:incorrect|invalid) api[ -]?key/i;

/**
 * The gateway's error for a reply whose status is not 2xx. Reads `error` as an object or a text,
 * the bare object, and FastAPI's `detail`. `words` win over the common names. Without a known name,
 * the status decides.
 */
export function readCompatibleError(reply: ErrorReply, words: ErrorWords = {}): GatewayError {
  return readFailure(reply, (body, status) => {
    const detail = isObject(body.error) ? body.error : body;
    const message = [detail.message, body.error, body.detail, body.message]
      .map(textOf)
      .find((text) => text !== undefined);
    return {
      message,
      failure:
        classOf(detail, status, words) ??
        (isRefused(status, message) ? refusedClass(status, message, word(detail)) : undefined),
      ...(typeof detail.param === "string" && detail.param !== "" ? { param: detail.param } : {}),
    };
  });
}

/**
 * Whether the account is refused. xAI answers 400 to a wrong key
 * (docs.x.ai/docs/key-information/debugging).
 */
function isRefused(status: number, message = ""): boolean {
  return status === 401 || status === 403 || (status === 400 && WRONG_KEY.test(message));
}

function word({ code }: JsonObject): string | undefined {
  return typeof code === "string" ? code : undefined;
}

function classOf(detail: JsonObject, status: number, words: ErrorWords): FailureClass | undefined {
  const inner = [detail.innererror, detail.inner_error].find(isObject);
  for (const word of [inner?.code, detail.code, detail.type, status]) {
    if (typeof word !== "string" && typeof word !== "number") continue;
    const key = String(word);
    const own = Object.hasOwn(words, key) ? words[key] : undefined;
    const found = own ?? (Object.hasOwn(COMMON, key) ? COMMON[key] : refusalOf(undefined, key));
    if (found !== undefined) return found;
  }
  // OpenRouter answers a flagged prompt with a 403 that lists the reasons.
  return isObject(detail.metadata) && Array.isArray(detail.metadata.reasons)
    ? "content_policy"
    : undefined;
}

/** A text, or the text of the first fault in FastAPI's list. */
function textOf(value: JsonValue | undefined): string | undefined {
  if (typeof value === "string" && value !== "") return value;
  const first = Array.isArray(value) ? (value[0] as JsonValue | undefined) : undefined;
  return isObject(first) && typeof first.msg === "string" ? first.msg : undefined;
}
