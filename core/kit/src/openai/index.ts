/** The reference dialect: what the gateway speaks to clients, and many upstreams speak too. */

export { type ErrorWords, readCompatibleError } from "./compatible-errors.ts";
export { decodeChat } from "./decode.ts";
export { decodeEmbeddings, type EmbeddingFormat, type EmbeddingsOptions, encodeEmbeddings, inputCount } from "./embeddings.ts";
export { base64ToFloats, floatsToBase64 } from "./embeddings-format.ts";
export { encodeChat } from "./encode.ts";
export { readEmbeddedError, readErrorReply } from "./errors.ts";
export { decodeImages, encodeImages, isBase64OnlyModel } from "./images.ts";
export { adaptMessage, type HistoryRules } from "./history.ts";
export { imageTokens } from "./media-tokens.ts";
export { createMendedTranslator } from "./mended-stream.ts";
export { Mender, type OwnFinishReasons } from "./mender.ts";
export { ObservedText } from "./observed-text.ts";
export { type ApiOperation, type ApiOperations, createOperations, imagesPerCall, OPENAI_HISTORY } from "./operations.ts";
export { splitCalls } from "./split-calls.ts";
export { splitVectors, type Vectors } from "./split-vectors.ts";
export { PARAMETERS, TOOL_PARAMETERS } from "./parameters.ts";
export { countPrompt, promptParts, type PromptParts } from "./prompt-tokens.ts";
export { reasoningTraits } from "./reasoning-models.ts";
export { replyTexts } from "./reply-texts.ts";
export { scrub } from "./scrub.ts";
export { chunkFrame, createChatTranslator, hasContent, rawFrame } from "./stream.ts";
export { readCacheWrites, readImageUsage, readUsage } from "./usage.ts";
