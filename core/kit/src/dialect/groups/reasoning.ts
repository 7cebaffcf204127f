/** Reasoning: a token budget for an effort, and turns without their signed thoughts. */

export { hasLostThoughts as isLost, thinkingBudget as budget } from "../request/thinking.ts";
