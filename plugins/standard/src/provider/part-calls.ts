/** Splits one request into several upstream calls. */

import { isObject } from "@sluice/kit";
import type { JsonObject, ProviderRequest, Reply, WholeReply } from "@sluice/contract";

/** Makes calls. Each is an attempt with a row of its own. */
export interface PartCaller {
  attempt(request: ProviderRequest): Promise<Reply>;
}

/**
 * The replies of all parts, in their order. At most `width` calls run in parallel. After a failure
 * no further call starts, and the request fails when the running calls have ended. Their rows have
 * their cost.
 */
export async function callInParts(
  parts: readonly ProviderRequest[],
  width: number,
  caller: PartCaller,
): Promise<readonly JsonObject[]> {
  const replies: JsonObject[] = [];
  let next = 0;
  let hasFailed = false;
  const work = async (): Promise<void> => {
    for (let at = next++; at < parts.length && !hasFailed; at = next++) {
      try {
        const reply = (await caller.attempt(parts[at] as ProviderRequest)) as WholeReply;
        replies[at] = reply.document.value;
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    }
  };
  const ended = await Promise.allSettled(
    Array.from({ length: Math.min(width, parts.length) }, work),
  );
  const failed = ended.find((outcome) => outcome.status === "rejected");
  if (failed !== undefined) throw failed.reason;
  return replies;
}

/** The usage of replies that have one. */
export function usagesOf(replies: readonly JsonObject[]): readonly JsonObject[] {
  return replies.map(({ usage }) => usage).filter(isObject);
}

/** The sum of one number of each usage. A missing one counts as zero. */
export function sumOf(usages: readonly JsonObject[], name: string): number {
  return usages.reduce((sum, usage) => sum + (Number(usage[name]) || 0), 0);
}
