/** The reference dialect: the dialect of the gateway's clients, and of many upstreams. */

export * as Compatible from "./compatible.ts";
export { decodeChat } from "./chat.ts";
export * as EmbeddingCalls from "./embeddings/calls.ts";
export { readErrorReply } from "./errors.ts";
export * as ImageCalls from "./image-calls.ts";
export { OPENAI_HISTORY, createOperations } from "./operations.ts";
export { PARAMETERS } from "./parameters.ts";
export { reasoningTraits } from "./reasoning-models.ts";
export * as Responses from "./responses/index.ts";
export { createChatTranslator } from "./stream.ts";
export { readUsage } from "./usage.ts";
