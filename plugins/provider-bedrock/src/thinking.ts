/** Reasoning: each family of models has its own words for it, beside Converse's. */

import { table } from "@sluice/kit";
import { type ChatRequest, thinkingBudget } from "@sluice/kit/dialect";
import type { JsonObject } from "@sluice/spec";
import { thinkingOf } from "./models.ts";

/** What is asked of the model's thoughts, and of the length of its reply. */
export interface Thought {
  /** For `additionalModelRequestFields`. */
  readonly fields: JsonObject;
  /** For `outputConfig`. */
  readonly output: JsonObject;
  readonly maxTokens: number | undefined;
}

/** Efforts in three words. */
const WORDS = table<string>({
  minimal: "low",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "high",
  max: "high",
});
/** What every family that thinks within a budget can write in one reply. */
const BUDGETED_REPLY = 32_000;

/** `maxTokens` is what the model can write, where that is known. */
export function thoughtOf(chat: ChatRequest, model: string, maxTokens: number | undefined): Thought {
  const { thinking, reasoningEffort: effort, temperature, refuse } = chat;
  const plain: Thought = { fields: {}, output: {}, maxTokens: chat.maxTokens };
  const way = thinkingOf(model);
  if (thinking !== undefined) {
    if (way === "none" || way === "nova" || way === "effort") return refuse("thinking", "a budget for thoughts");
    // Without a limit the API has one of its own, which a budget may not reach.
    const limit = chat.maxTokens ?? (way === "budget" ? (maxTokens ?? BUDGETED_REPLY) : undefined);
    return { fields: { thinking }, output: effort === undefined ? {} : { effort }, maxTokens: limit };
  }
  if (effort === undefined) return plain;
  if (effort === "none" && way !== "effort") {
    const isClaude = way === "budget" || way === "adaptive";
    return isClaude ? { ...plain, fields: { thinking: { type: "disabled" } } } : plain;
  }
  const word = WORDS[effort] ?? refuse("reasoning_effort", `the effort ${effort.slice(0, 32)}`);
  switch (way) {
    case "none":
    case "unknown":
      return refuse("reasoning_effort", "an effort");
    case "effort":
      return { ...plain, fields: { reasoning_effort: word } };
    case "nova":
      return { ...plain, fields: { reasoningConfig: { type: "enabled", maxReasoningEffort: word } } };
    case "adaptive":
      return {
        ...plain,
        fields: { thinking: { type: "adaptive" } },
        output: { effort: effort === "minimal" ? "low" : effort },
      };
    case "budget": {
      if (temperature !== undefined && temperature !== 1) refuse("temperature", "a temperature other than 1 beside thinking");
      const limit = chat.maxTokens ?? maxTokens ?? BUDGETED_REPLY;
      const budget = thinkingBudget(effort, refuse, limit);
      return { fields: { thinking: { type: "enabled", budget_tokens: budget } }, output: {}, maxTokens: limit };
    }
    default:
      return way satisfies never;
  }
}
