/** The reference dialect: the dialect of the gateway's clients, and of many upstreams. */

export { type ErrorWords, readCompatibleError } from "./compatible-errors.ts";
export { decodeChat } from "./decode.ts";
export { type EmbeddingFormat, decodeEmbeddings, encodeEmbeddings } from "./embeddings/embeddings.ts";
export { base64ToFloats, floatsToBase64 } from "./embeddings/format.ts";
export { readErrorReply } from "./errors.ts";
export { type HistoryRules, adaptMessage } from "./history.ts";
export { decodeImages } from "./images.ts";
export { OPENAI_HISTORY, createOperations, imagesPerCall } from "./operations.ts";
export { PARAMETERS } from "./parameters.ts";
export { reasoningTraits } from "./reasoning-models.ts";
export { ChunkRepairer, type OwnFinishReasons } from "./repair/chunk-repairs.ts";
export { createRepairedTranslator } from "./repair/repaired-stream.ts";
export { splitCalls } from "./repair/split-calls.ts";
export { createChatTranslator } from "./stream.ts";
export { readCacheWrites, readUsage } from "./usage.ts";
