/** The usage of a reply of several upstream calls: the sum of all. */

import type { Attempt, Exchange, Usage, UsageSource } from "@sluice/contract";
import { Native } from "@sluice/kit/passthrough";
import { callsWith } from "./attempt-budget.ts";

/**
 * The attempt of a reply. For several calls it is a record with the sum of their usage, which is
 * `undefined` while one of theirs is.
 */
export function wholeAttempt(exchange: Exchange, attempt: Attempt): Attempt {
  const calls = callsWith(exchange, attempt);
  if (calls === undefined) return attempt;
  return {
    ...attempt,
    // Read on first use: an unreported usage is counted when the exchange ends.
    get usage(): Usage | undefined {
      return sumOf(calls);
    },
    get usageSource(): UsageSource | undefined {
      return calls.every(({ usageSource }) => usageSource === "provider")
        ? "provider"
        : "estimated";
    },
  };
}

const COUNTS = [
  "cachedTokens",
  "cacheWriteTokens",
  "cacheWrite1hTokens",
  "reasoningTokens",
  "audioPromptTokens",
  "imagePromptTokens",
  "cachedAudioTokens",
  "cachedImageTokens",
  "audioCompletionTokens",
  "imageCompletionTokens",
] as const;

function sumOf(calls: readonly Attempt[]): Usage | undefined {
  const usages = calls.map(({ usage }) => usage).filter((usage) => usage !== undefined);
  const [first] = usages;
  if (first === undefined || usages.length < calls.length) return undefined;
  const sum: { -readonly [Name in keyof Usage]: Usage[Name] } = { ...first };
  for (const usage of usages.slice(1)) {
    sum.promptTokens += usage.promptTokens;
    sum.completionTokens += usage.completionTokens;
    sum.totalTokens += usage.totalTokens;
    for (const name of COUNTS) {
      const count = usage[name];
      if (count !== undefined) sum[name] = (sum[name] ?? 0) + count;
    }
    const toolUses = Native.addToolUses(sum.toolUses, usage.toolUses);
    if (toolUses !== undefined) sum.toolUses = toolUses;
    if (sum.billed !== undefined || usage.billed !== undefined) {
      const before = sum.billed ?? {
        promptTokens: sum.promptTokens - usage.promptTokens,
        completionTokens: sum.completionTokens - usage.completionTokens,
      };
      const more = usage.billed ?? usage;
      sum.billed = {
        promptTokens: before.promptTokens + more.promptTokens,
        completionTokens: before.completionTokens + more.completionTokens,
      };
    }
    if (sum.images !== undefined && usage.images !== undefined) {
      sum.images = { ...sum.images, count: sum.images.count + usage.images.count };
    }
  }
  return sum;
}
