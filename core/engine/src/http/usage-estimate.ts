/** The usage of attempts whose upstream told none: counted from the request and from what the reply said. */

import { type Attempt, type Exchange, isGatewayError, type TokenCounter } from "@sluice/spec";
import { countPrompt } from "@sluice/kit/openai";
import type { FamilyFactors } from "../counting/family-factor.ts";

/** What an estimate needs of the process. */
export interface EstimateParts {
  readonly tokens: TokenCounter;
  readonly factors: FamilyFactors;
}

/** A reply waits this long for its own count; beyond, the tokens are a fourth of the bytes. */
const MAX_WAIT_MS = 250;
/** Without a client nobody waits. */
const MAX_WAIT_ALONE_MS = 2_000;

/** Attempts that used tokens nobody told: those that answered, in full or in part. */
export function hasUntold(exchange: Exchange): boolean {
  return isCounted(exchange) && exchange.attempts.some(isUntold);
}

/** Sets the usage of every attempt that lacks one, as `estimated`. Never rejects. */
export async function estimateUsage(exchange: Exchange, { tokens, factors }: EstimateParts): Promise<void> {
  const untold = exchange.attempts.filter(isUntold);
  const { request } = exchange;
  if (request === undefined) return;
  const maxWaitMs = isClientGone(exchange) ? MAX_WAIT_ALONE_MS : MAX_WAIT_MS;
  const [prompt, ...completions] = await Promise.all([
    countPrompt(request.document.value, tokens, { maxWaitMs }),
    ...untold.map(({ replyTexts }) => tokens.count(replyTexts?.() ?? [], { maxWaitMs })),
  ]);
  for (const [index, attempt] of untold.entries()) {
    const factor = factors.of(attempt.target.model);
    const promptTokens = Math.round((prompt?.tokens ?? 0) * factor);
    const completionTokens = Math.round((completions[index]?.tokens ?? 0) * factor);
    attempt.usage = { promptTokens, completionTokens, totalTokens: promptTokens + completionTokens };
    attempt.usageSource = "estimated";
  }
}

function isClientGone({ signal }: Exchange): boolean {
  return signal.aborted && isGatewayError(signal.reason) && signal.reason.code === "client_closed";
}

/** Operations whose bodies are in the reference dialect and billed by tokens. */
function isCounted({ operation, identity }: Exchange): boolean {
  return identity !== undefined && (operation === "chat" || operation === "embeddings");
}

function isUntold({ usage, outcome, firstContentAtMs, error }: Attempt): boolean {
  if (usage !== undefined) return false;
  // The upstream of a hedge that lost had the prompt, and was cut off by the gateway's own choice: it bills the prompt.
  if (outcome === "failure") return error?.code === "hedge_lost";
  // An attempt without an outcome is about to be closed: as cut when there was content, as failed when there was none.
  return outcome !== undefined || firstContentAtMs !== undefined;
}
