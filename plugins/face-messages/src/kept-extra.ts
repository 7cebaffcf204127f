/**
 * What another provider needs back of a call, and the API has no member for: signatures of Google's
 * models. It stands in a `redacted_thinking` block of the gateway's own before the call, because
 * clients return such blocks unchanged and in their place.
 */

import type { JsonObject, JsonValue } from "@sluice/contract";
import { isObject, parseJson } from "@sluice/kit";

/** Marks data as the gateway's own. Nine bytes, so that base64 of the mark is a prefix. */
const MARK = "sluice/1:";
const PREFIX = Buffer.from(MARK, "latin1").toString("base64");

/** The block before a call with `extra_content`. */
export function keptBlock(extra: JsonObject): JsonObject {
  const data = Buffer.from(`${MARK}${JSON.stringify(extra)}`, "utf8").toString("base64");
  return { type: "redacted_thinking", data };
}

/** The `extra_content` of the call after a block; `undefined` for a provider's own block. */
export function keptExtra(data: JsonValue | undefined): JsonObject | undefined {
  if (typeof data !== "string" || !data.startsWith(PREFIX)) return undefined;
  try {
    const text = Buffer.from(data, "base64").toString("utf8").slice(MARK.length);
    const value: unknown = parseJson(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
