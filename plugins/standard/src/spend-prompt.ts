/** The tokens of a prompt that nobody has sent yet. */

import { isObject } from "@sluice/kit";
import type { JsonValue, TokenCount, TokenCounter } from "@sluice/spec";

/** What the reference API adds to each message, and to the reply that is to come. */
const TOKENS_PER_MESSAGE = 3;
const TOKENS_FOR_REPLY = 3;

/** The tokens of a chat body's messages. */
export async function promptTokens(messages: JsonValue | undefined, counter: TokenCounter): Promise<TokenCount> {
  const list = Array.isArray(messages) ? messages : [];
  const { tokens, exact } = await counter.count(list.flatMap(textsOf));
  return { tokens: tokens + list.length * TOKENS_PER_MESSAGE + TOKENS_FOR_REPLY, exact };
}

function textsOf(value: JsonValue | undefined): string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(textsOf);
  return isObject(value) ? Object.values(value).flatMap(textsOf) : [];
}
