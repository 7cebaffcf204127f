/**
 * The tokens of a native request's prompt, for replies without reported usage: every text of the
 * body, in any dialect.
 */

import type { CountOptions, JsonObject, TokenCount, TokenCounter } from "@sluice/contract";
import { bodyTexts } from "@sluice/kit/guard";
import { promptParts } from "../openai/tokens/prompt-tokens.ts";

/**
 * Counts the prompt of a native body: all of its texts, and the reference dialect's framing of
 * messages. Never rejects.
 */
export async function countNativePrompt(
  body: JsonObject,
  counter: TokenCounter,
  options?: CountOptions,
): Promise<TokenCount> {
  const { texts } = bodyTexts(body, "passthrough");
  const { overhead } = promptParts(body);
  const counted = await counter.count(
    texts.filter(({ parts }) => parts === undefined).map(({ text }) => text),
    options,
  );
  return { tokens: counted.tokens + overhead, exact: false };
}
