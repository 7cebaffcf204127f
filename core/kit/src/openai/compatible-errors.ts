/** Errors of upstreams that speak the reference dialect with words and codes of their own. */

import type { ErrorReply, GatewayError, JsonObject, JsonValue } from "@sluice/spec";
import { type FailureClass, readFailure, refusalOf, refusedClass } from "../dialect/errors.ts";
import { isObject } from "../json/narrow.ts";

/** Classes by the words that an upstream puts into `code`, `type` or the code of an inner error; by its status where no word is known. */
export type ErrorWords = Readonly<Record<string, FailureClass>>;

/** Words that mean the same wherever they stand; those of refusals are in the table of refusals. */
const COMMON: ErrorWords = { insufficient_quota: "quota" };

const WRONG_KEY = /\b(?:incorrect|invalid) api[ -]?key/i;

/**
 * The gateway's error of a reply whose status is not 2xx. Knows `error` as an object or a text, the bare object, and FastAPI's
 * `detail`. `words` come before the common ones; where neither knows the upstream's words, its status decides.
 */
export function readCompatibleError(reply: ErrorReply, words: ErrorWords = {}): GatewayError {
  return readFailure(reply, (body, status) => {
    const detail = isObject(body.error) ? body.error : body;
    const message = [detail.message, body.error, body.detail, body.message].map(textOf).find((text) => text !== undefined);
    return {
      message,
      failure:
        classOf(detail, status, words) ?? (isRefused(status, message) ? refusedClass(status, message, word(detail)) : undefined),
      ...(typeof detail.param === "string" && detail.param !== "" ? { param: detail.param } : {}),
    };
  });
}

/** Whether the account is refused. xAI answers 400 to a wrong key (docs.x.ai/docs/key-information/debugging). */
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
  // A flagged prompt at OpenRouter: a 403 with the reasons.
  return isObject(detail.metadata) && Array.isArray(detail.metadata.reasons) ? "content_policy" : undefined;
}

/** A text, or FastAPI's list of faults: the first one's words. */
function textOf(value: JsonValue | undefined): string | undefined {
  if (typeof value === "string" && value !== "") return value;
  const first = Array.isArray(value) ? (value[0] as JsonValue | undefined) : undefined;
  return isObject(first) && typeof first.msg === "string" ? first.msg : undefined;
}
