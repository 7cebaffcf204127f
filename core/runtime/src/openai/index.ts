/** @sluice/runtime/openai: the reference dialect, for the engine and the steps. */

export { type Vectors, splitVectors } from "./embeddings/split-vectors.ts";
export { imageTokens } from "./tokens/media-tokens.ts";
export { ObservedText } from "./tokens/observed-text.ts";
export {
  type PromptParts,
  countPrompt,
  promptParts,
  roughPromptTokens,
} from "./tokens/prompt-tokens.ts";
export { replyTexts } from "./tokens/reply-texts.ts";
