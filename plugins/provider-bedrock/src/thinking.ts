/** Reasoning: each family of models has its own words for it, beside Converse's. */

import { type Chat, Members, offeredTools, Reasoning } from "@sluice/kit/dialect";
import type { JsonObject } from "@sluice/contract";
import { type Thinking, thinkingOf } from "./models.ts";

/** The settings for the model's thoughts and the length of its reply. */
export interface Thought {
  /** For `additionalModelRequestFields`. */
  readonly fields: JsonObject;
  /** For `outputConfig`. */
  readonly output: JsonObject;
  readonly maxTokens: number | undefined;
}

/** Efforts in three words. */
const WORDS = Members.table<string>({
  minimal: "low",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "high",
  max: "high",
});
/** The minimum reply length that all families with a thinking budget support. */
const BUDGETED_REPLY = 32_000;

/** A request whose family is known. */
interface Asked {
  readonly chat: Chat.Request;
  readonly way: Thinking;
  /** What the model can write, where that is known. */
  readonly maxTokens: number | undefined;
  /** The settings without thoughts. */
  readonly plain: Thought;
}

/** `maxTokens` is what the model can write, where that is known. */
export function thoughtOf(
  chat: Chat.Request,
  model: string,
  maxTokens: number | undefined,
): Thought {
  const { thinking, reasoningEffort: effort } = chat;
  const plain: Thought = { fields: {}, output: {}, maxTokens: chat.maxTokens };
  const asked: Asked = { chat, way: thinkingOf(model), maxTokens, plain };
  if (thinking !== undefined) return givenThinking(thinking, asked);
  return effort === undefined ? plain : givenEffort(effort, asked);
}

/** The client's own `thinking`, which Claude reads as it is. */
function givenThinking(
  thinking: NonNullable<Chat.Request["thinking"]>,
  { chat, way, maxTokens, plain }: Asked,
): Thought {
  const { reasoningEffort: effort, refuse } = chat;
  if (way === "none" || way === "nova" || way === "effort") {
    return thinking.type === "disabled" && way !== "effort"
      ? plain
      : refuse("thinking", "a budget for thoughts");
  }
  // Without a limit the API has one of its own, which a budget may not reach.
  const limit = chat.maxTokens ?? (way === "budget" ? (maxTokens ?? BUDGETED_REPLY) : undefined);
  const output: JsonObject = effort === undefined ? {} : { effort };
  if (thinking.type === "disabled" || !isWithheld(chat, way))
    return { fields: { thinking }, output, maxTokens: limit };
  chat.dropped.push("thinking");
  return { ...plain, output };
}

/** `reasoning_effort`, in the words of the family. */
function givenEffort(effort: string, asked: Asked): Thought {
  const { chat, way, plain } = asked;
  const { refuse } = chat;
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
    case "nova": {
      const reasoningConfig = { type: "enabled", maxReasoningEffort: word };
      return { ...plain, fields: { reasoningConfig } };
    }
    case "adaptive": {
      const isLeftOut = isWithheld(chat, way);
      if (isLeftOut) chat.dropped.push("reasoning_effort");
      return {
        ...plain,
        fields: isLeftOut ? {} : { thinking: { type: "adaptive" } },
        output: { effort: effort === "minimal" ? "low" : effort },
      };
    }
    case "budget":
      return budgetOf(effort, asked);
    default:
      return way satisfies never;
  }
}

function budgetOf(effort: string, { chat, way, maxTokens, plain }: Asked): Thought {
  const { temperature, refuse } = chat;
  if (isWithheld(chat, way)) {
    chat.dropped.push("reasoning_effort");
    return plain;
  }
  if (temperature !== undefined && temperature !== 1)
    refuse("temperature", "a temperature other than 1 beside thinking");
  const limit = chat.maxTokens ?? maxTokens ?? BUDGETED_REPLY;
  const budget = Reasoning.budget(effort, refuse, limit);
  return {
    fields: { thinking: { type: "enabled", budget_tokens: budget } },
    output: {},
    maxTokens: limit,
  };
}

/**
 * Claude refuses thoughts beside a forced choice of tools, and in a turn whose signed thoughts the
 * client lost.
 */
function isWithheld(chat: Chat.Request, way: Thinking): boolean {
  if (way !== "budget" && way !== "adaptive") return false;
  const { tools, choice } = offeredTools(chat);
  const isForced = tools.length > 0 && (choice?.mode === "required" || choice?.mode === "named");
  return isForced || (way === "budget" && Reasoning.isLost(chat.turns));
}
