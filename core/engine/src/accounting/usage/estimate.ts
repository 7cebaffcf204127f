/**
 * Estimates the usage of attempts whose upstream reported none, from the texts of request and
 * reply, and shows it to a client that asked.
 */

import { BILLING, isClientGone, SERVED } from "@sluice/runtime";
import { isObject } from "@sluice/kit";
import type {
  Attempt,
  AttemptWriter,
  Exchange,
  GatewayRequest,
  JsonDocument,
  TokenCounter,
  Usage,
  Frame,
  JsonObject,
  WholeReply,
} from "@sluice/contract";
import { countPrompt, promptParts } from "@sluice/runtime/openai";
import { countNativePrompt } from "@sluice/runtime/passthrough";
import type { FamilyFactors } from "../../counting/family-factor.ts";
import { isAtLeast, usageJson } from "@sluice/kit/internals";
import { readUsage } from "@sluice/kit/openai";

/** The parts of the process that an estimate needs. */
export interface EstimateParts {
  readonly tokens: TokenCounter;
  readonly factors: FamilyFactors;
}

/** An exchange whose attempts can be written. */
export interface Counted extends Exchange {
  readonly attempts: readonly AttemptWriter[];
}

/** A reply waits this long for its own count; beyond, the tokens are a fourth of the bytes. */
const MAX_WAIT_MS = 250;
/** The longer wait when no client waits for the reply. */
const MAX_WAIT_ALONE_MS = 2_000;

/**
 * Attempts with unreported usage: those that answered, in full or in part, and those that are
 * billed without an answer.
 */
export function hasUnreportedUsage(exchange: Counted): boolean {
  return isCounted(exchange) && exchange.attempts.some((attempt) => hasNoReport(exchange, attempt));
}

/** Sets the usage of every attempt that lacks one, as `estimated`. Never rejects. */
export async function estimateUsage(
  exchange: Counted,
  { tokens, factors }: EstimateParts,
): Promise<void> {
  const untold = exchange.attempts.filter((attempt) => hasNoReport(exchange, attempt));
  const { request } = exchange;
  if (request === undefined) return;
  const maxWaitMs = isClientGone(exchange) ? MAX_WAIT_ALONE_MS : MAX_WAIT_MS;
  // Attempts mostly ask one and the same; the parts of an embeddings request do not.
  const prompts = new Map<JsonDocument, ReturnType<typeof countPrompt>>();
  const count = exchange.operation === "passthrough" ? countNativePrompt : countPrompt;
  const promptOf = ({ document = request.document }: Attempt): ReturnType<typeof countPrompt> => {
    const known = prompts.get(document) ?? count(document.value, tokens, { maxWaitMs });
    prompts.set(document, known);
    return known;
  };
  const counts = untold.map((attempt) =>
    Promise.all([promptOf(attempt), tokens.count(attempt.replyText?.texts() ?? [], { maxWaitMs })]),
  );
  for (const [index, [prompt, said]] of (await Promise.all(counts)).entries()) {
    const attempt = untold[index] as AttemptWriter;
    const factor = factors.of(attempt.target.model);
    // A usage with an impossible prompt keeps its completion.
    const { suspectUsage: suspect } = attempt;
    const least =
      suspect === undefined
        ? credible(exchange, attempt)
        : { promptTokens: 0, completionTokens: suspect.completionTokens };
    // A prompt that was reported needs no count.
    const promptTokens =
      (least?.promptTokens ?? 0) > 0
        ? (least?.promptTokens ?? 0)
        : Math.round((prompt?.tokens ?? 0) * factor);
    const saidTokens = Math.round(said.tokens * (attempt.replyText?.scale ?? 1) * factor);
    const completionTokens = Math.max(
      saidTokens,
      least?.completionTokens ?? 0,
      assumedTokens(exchange, attempt, request) ?? 0,
    );
    const counted = {
      ...least,
      promptTokens,
      completionTokens,
      totalTokens: promptTokens + completionTokens,
    };
    attempt.estimate(
      isUncountable(attempt, request, completionTokens) ? attempt.reserved : counted,
    );
  }
}

/** The usage so far of a cut reply. One with an impossible prompt keeps its completion. */
function credible(exchange: Exchange, attempt: Attempt): Usage | undefined {
  const { leastUsage: least } = attempt;
  if (least === undefined || !isSuspect(exchange, attempt, least)) return least;
  const { completionTokens } = least;
  return { promptTokens: 0, completionTokens, totalTokens: completionTokens };
}

/** Operations that are billed by tokens. */
function isCounted({ operation, identity }: Exchange): boolean {
  return (
    identity !== undefined &&
    (operation === "chat" || operation === "embeddings" || operation === "passthrough")
  );
}

/**
 * Whether a native reply has nothing that can be counted, and what was reserved for it stands in
 * its row: it is no text that is known, it is whole and says nothing, or the upstream goes on in
 * the background when the client has left.
 */
function isUncountable(
  { reserved, replyText, outcome }: Attempt,
  { document }: GatewayRequest,
  completionTokens: number,
): boolean {
  if (reserved === undefined) return false;
  const isSilent = outcome === "success" && completionTokens === 0;
  return replyText === undefined || isSilent || document.value.background === true;
}

/** Whether the upstream answers before it has begun (`background` of OpenAI's responses). */
function isBackground({ operation, request }: Exchange): boolean {
  return operation === "passthrough" && request?.document.value.background === true;
}

/** Tokens that a provider may add to a prompt: instructions for tools, results of searches. */
const MAX_ADDED_TOKENS = 20_000;
/** Ten times the estimate of a text: a token is about four bytes. */
const MAX_TOKENS_PER_BYTE = 2.5;

/**
 * Whether a reported prompt cannot be true: over ten times what its text can be, and more than a
 * provider adds. A request whose prompt is not all in its body, media and searches for example, is
 * never judged.
 */
function isSuspect(
  { operation, request }: Exchange,
  { document = request?.document }: Attempt,
  usage: Usage | undefined,
): boolean {
  if (usage === undefined || usage.promptTokens <= MAX_ADDED_TOKENS || document === undefined)
    return false;
  if (operation !== "chat" && operation !== "embeddings") return false;
  const { value } = document;
  const minBytes = (usage.promptTokens - MAX_ADDED_TOKENS) / MAX_TOKENS_PER_BYTE;
  // The text of a document that is not written yet is made for a suspicion alone.
  if (isAtLeast(value, minBytes) || Buffer.byteLength(document.bytes) >= minBytes) return false;
  const tools = Array.isArray(value.tools) ? value.tools : [];
  const hasOwnTools = tools.some((tool: unknown) => !isObject(tool) || tool.type !== "function");
  const hasSearch = value.web_search_options !== undefined || value.plugins !== undefined;
  return !hasOwnTools && !hasSearch && promptParts(value).exact;
}

/**
 * Whether a reply has text although its upstream reported no completion token: the count is missing
 * or wrong. What counts no text is left out: embeddings, and native replies that hold none.
 */
function lacksCompletion(
  { operation }: Exchange,
  { usage, usageSource, replyText, target }: Attempt,
): boolean {
  if (usage?.completionTokens !== 0 || usageSource !== "provider" || target.price?.free === true)
    return false;
  // Images are billed by the piece and have no tokens.
  if (usage.images !== undefined) return false;
  return operation !== "embeddings" && (replyText?.texts() ?? []).some((text) => text !== "");
}

function hasNoReport(exchange: Exchange, attempt: AttemptWriter): boolean {
  if (attempt.suspectUsage === undefined && isSuspect(exchange, attempt, attempt.usage))
    attempt.doubt();
  if (lacksCompletion(exchange, attempt)) attempt.undercount();
  const { usage, outcome, firstContentAtMs, error, replyText, reserved } = attempt;
  if (usage !== undefined || attempt.target.price?.free === true) return false;
  // Of a native reply that is no text nothing is known, unless something was reserved.
  if (exchange.operation === "passthrough" && replyText === undefined && reserved === undefined)
    return false;
  // The work of the upstream after its reply is unknown. Without a reservation it has no estimate.
  if (isBackground(exchange) && reserved === undefined) return false;
  // The upstream of a hedge that lost had the prompt, and was cut off by the gateway's own choice:
  // it bills the prompt.
  if (error?.code === "hedge_lost") return true;
  if (BILLING.get(exchange)?.estimate?.(attempt, exchange) !== undefined) return true;
  // A failed attempt with a first content has generated tokens. An attempt without an outcome is
  // about to be closed: as cut with content, as failed without.
  return outcome === "success" || outcome === "partial" || firstContentAtMs !== undefined;
}

/**
 * The longest output that an attempt may have had, where it is to be billed as if it had: the
 * request's larger bound or the model's, the lower one.
 */
function assumedTokens(
  exchange: Exchange,
  attempt: Attempt,
  { document }: GatewayRequest,
): number | undefined {
  const isAssumed =
    exchange.operation === "chat" &&
    BILLING.get(exchange)?.estimate?.(attempt, exchange) === "longest_output";
  if (!isAssumed) return undefined;
  const { max_completion_tokens: maxCompletion, max_tokens: max, n } = document.value;
  const asked = [maxCompletion, max].filter(
    (value) => typeof value === "number" && value > 0,
  ) as number[];
  const longest = asked.length === 0 ? undefined : Math.max(...asked);
  const bounds = [longest, attempt.model?.info?.maxOutputTokens].filter(
    (value) => value !== undefined,
  );
  return bounds.length === 0 ? undefined : Math.min(...bounds) * (typeof n === "number" ? n : 1);
}

/**
 * The estimate for the attempt that answered, of this request or of the one whose reply is served
 * again; `undefined` with a reported usage, or without a count.
 */
function estimateOf(exchange: Exchange): JsonObject | undefined {
  if (exchange.operation !== "chat") return undefined;
  const attempt =
    exchange.attempts.findLast(({ outcome }: Attempt) => outcome === "success") ??
    SERVED.get(exchange);
  if (attempt?.usage === undefined || attempt.usageSource !== "estimated") return undefined;
  return { ...usageJson(attempt.usage), estimated: true };
}

/**
 * The usage chunk of a stream: `undefined` after the upstream's own, and for a client that did not
 * ask for it.
 */
export function estimatedUsageChunk(
  exchange: Exchange,
  last: Frame | undefined,
): JsonObject | undefined {
  if (last === undefined || exchange.request?.includeUsage !== true) return undefined;
  const usage = estimateOf(exchange);
  if (usage === undefined) return undefined;
  const { id, object, created, model } = last.chunk();
  return { id, object, created, model, choices: [], usage };
}

/** A whole reply with the estimate, where it has no usage that can be read. */
export function withEstimatedUsage(exchange: Exchange, reply: WholeReply): WholeReply {
  const usage = estimateOf(exchange);
  if (usage === undefined || readUsage(reply.document.value.usage) !== undefined) return reply;
  return { ...reply, document: reply.document.with({ usage }) };
}
