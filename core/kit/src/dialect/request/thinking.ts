/** Converts a reasoning effort for models with a token budget for thoughts. */

import type { Refuse } from "../refusal.ts";
import type { Part, Turn } from "./conversation.ts";

/** The minimum token budget that all of them accept. The answer needs tokens besides it. */
const MIN_BUDGET = 1_024;
const BUDGETS: Readonly<Record<string, number>> = {
  minimal: MIN_BUDGET,
  low: 2_048,
  medium: 8_192,
  high: 16_384,
  xhigh: 32_768,
  max: 32_768,
};

/**
 * The token budget of an effort, in a reply of at most `limit` tokens. Refuses an unknown effort,
 * and one that leaves no tokens for the answer.
 */
export function thinkingBudget(effort: string, refuse: Refuse, limit = Infinity): number {
  const budget = Object.hasOwn(BUDGETS, effort) ? BUDGETS[effort] : undefined;
  if (budget === undefined) return refuse("reasoning_effort", `the effort ${effort.slice(0, 32)}`);
  const fitting = Math.min(budget, limit - 1);
  return fitting < MIN_BUDGET
    ? refuse("reasoning_effort", `an effort within ${limit} tokens`)
    : fitting;
}

/**
 * Whether the current turn lacks its signed thoughts: an assistant's calls with results but without
 * the preceding block, or an answer to continue. Claude refuses such a turn while it thinks
 * ("Expected `thinking` or `redacted_thinking`, but found `tool_use`"); many clients lose the
 * blocks. Earlier turns need none (platform.claude.com/docs/en/build-with-claude/extended-thinking,
 * "Preserving thinking blocks").
 */
export function hasLostThoughts(turns: readonly Turn[]): boolean {
  for (const turn of turns.toReversed()) {
    if (turn.role === "user") {
      if (!turn.parts.some(({ kind }) => kind === "result")) return false;
    } else if (!isSigned(turn.parts.find((part) => part.kind !== "thinking" || isSigned(part))))
      return true;
  }
  return false;
}

function isSigned(part: Part | undefined): boolean {
  return part?.kind === "thinking" && (part.signature !== undefined || part.redacted !== undefined);
}
