/**
 * Thought signatures. The models of Google send their own; they pass unchanged. What other
 * providers need back of an answer is packed into one, because clients return signatures and many
 * of them drop the thoughts.
 */

import type { JsonObject, JsonValue } from "@sluice/contract";
import { isObject, parseJson } from "@sluice/kit";

/** Members of an assistant's message that its provider needs back unchanged: lists of blocks. */
const KEPT = ["thinking_blocks", "reasoning_items"] as const;

/** Marks a signature as packed. Nine bytes, so that base64 of the mark is a prefix. */
const MARK = "sluice/1:";
const PREFIX = Buffer.from(MARK, "latin1").toString("base64");

/** The members of one or several messages that go back. */
export type KeptMembers = Partial<Record<(typeof KEPT)[number], JsonValue[]>>;

/**
 * The members to keep of a message or a delta, added to those before; `undefined` for none. It
 * changes `before`: a copy for each delta of a stream takes quadratic time.
 */
export function keepMembers(
  before: KeptMembers | undefined,
  message: JsonObject,
): KeptMembers | undefined {
  let kept = before;
  for (const name of KEPT) {
    const value = message[name];
    if (!Array.isArray(value) || value.length === 0) continue;
    kept ??= {};
    const list = (kept[name] ??= []);
    for (const each of value as readonly JsonValue[]) list.push(each);
  }
  return kept;
}

/** A signature that holds the members. */
export function packed(members: KeptMembers): string {
  return Buffer.from(`${MARK}${JSON.stringify(members)}`, "utf8").toString("base64");
}

/** The members of a packed signature; `undefined` for every other one. */
export function unpacked(signature: string): KeptMembers | undefined {
  if (!signature.startsWith(PREFIX)) return undefined;
  try {
    const text = Buffer.from(signature, "base64").toString("utf8").slice(MARK.length);
    const value: unknown = parseJson(text);
    return isObject(value) ? keepMembers(undefined, value) : undefined;
  } catch {
    return undefined;
  }
}

/** Google's own signature as the reference dialect has it: `extra_content` of a call or message. */
export function extraOf(signature: string): JsonObject {
  return { google: { thought_signature: signature } };
}

/** Google's own signature of a message or a call. */
export function signatureIn({ extra_content: extra }: JsonObject): string | undefined {
  const google = isObject(extra) ? extra.google : undefined;
  const signature = isObject(google) ? google.thought_signature : undefined;
  return typeof signature === "string" && signature !== "" ? signature : undefined;
}
