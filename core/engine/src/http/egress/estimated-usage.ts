/** The usage that a client asked for and the upstream did not report: the gateway's estimate, in the place where the dialect has it. */

import { usageJson } from "@sluice/kit/internals";
import type { Attempt, Exchange, Frame, JsonObject, WholeReply } from "@sluice/contract";

/** The estimate for the attempt that answered; `undefined` where the upstream reported a usage or nothing was counted. */
function estimateOf({ operation, attempts }: Exchange): JsonObject | undefined {
  if (operation !== "chat") return undefined;
  const attempt = attempts.findLast(({ outcome }: Attempt) => outcome === "success");
  if (attempt?.usage === undefined || attempt.usageSource !== "estimated") return undefined;
  return { ...usageJson(attempt.usage), estimated: true };
}

/** The event of a stream whose client asked for usage: empty where the upstream's own was written, or none was asked for. */
export function estimatedUsageEvent(exchange: Exchange, last: Frame | undefined): string {
  if (last === undefined || exchange.request?.includeUsage !== true) return "";
  const usage = estimateOf(exchange);
  if (usage === undefined) return "";
  const { id, object, created, model } = last.chunk();
  return `data: ${JSON.stringify({ id, object, created, model, choices: [], usage })}\n\n`;
}

/** A whole reply with the estimate, where it has no usage. */
export function withEstimatedUsage(exchange: Exchange, reply: WholeReply): WholeReply {
  const usage = estimateOf(exchange);
  if (usage === undefined || reply.document.value.usage !== undefined) return reply;
  return { ...reply, document: reply.document.with({ usage }) };
}
