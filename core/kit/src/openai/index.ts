/** The reference dialect: what the gateway speaks to clients, and many upstreams speak too. */

export { decodeChat } from "./decode.ts";
export { encodeChat } from "./encode.ts";
export { readEmbeddedError, readErrorReply } from "./errors.ts";
export { scrub } from "./scrub.ts";
export { chunkFrame, createChatTranslator, hasContent, rawFrame } from "./stream.ts";
export { readCacheWrites, readImageUsage, readUsage } from "./usage.ts";
