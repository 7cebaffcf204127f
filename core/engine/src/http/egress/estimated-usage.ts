/**
 * The estimated usage for a client that asked for usage and an upstream that reported none, in the
 * dialect's place.
 */

import { usageJson } from "@sluice/kit/internals";
import type { Attempt, Exchange, Frame, JsonObject, WholeReply } from "@sluice/contract";

/**
 * The estimate for the attempt that answered; `undefined` with a reported usage, or without a
 * count.
 */
function estimateOf({ operation, attempts }: Exchange): JsonObject | undefined {
  if (operation !== "chat") return undefined;
  const attempt = attempts.findLast(({ outcome }: Attempt) => outcome === "success");
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

/** A whole reply with the estimate, where it has no usage. */
export function withEstimatedUsage(exchange: Exchange, reply: WholeReply): WholeReply {
  const usage = estimateOf(exchange);
  if (usage === undefined || reply.document.value.usage !== undefined) return reply;
  return { ...reply, document: reply.document.with({ usage }) };
}
