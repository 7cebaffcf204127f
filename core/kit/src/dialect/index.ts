/**
 * For providers with another dialect: readers of requests, and writers of replies, streams and
 * errors.
 */

export { ChunkWriter, createStreamTranslator } from "./chunk-writer.ts";
export { type FailureClass, type UpstreamFailure, readFailure, upstreamError } from "./errors.ts";
export { type FinishTable, finishReason } from "./finish.ts";
export * as Chat from "./groups/chat.ts";
export * as Embeddings from "./groups/embeddings.ts";
export * as Failures from "./groups/failures.ts";
export * as Fields from "./groups/fields.ts";
export * as Images from "./groups/images.ts";
export * as Members from "./groups/members.ts";
export * as Reference from "./groups/reference.ts";
export * as Schema from "./groups/schema.ts";
export * as Reasoning from "./groups/reasoning.ts";
export * as ToolNames from "./groups/tool-names.ts";
export { type Refuse, invalidField, refusalsOf } from "./refusal.ts";
export { chatReply, readJsonBody, readJsonEvent } from "./reply.ts";
export { BASIC_PARAMETERS, readChatRequest } from "./request/chat-request.ts";
export type { Part, Turn } from "./request/conversation.ts";
export { readMediaUrl } from "./request/data-url.ts";
export type { ContentPart } from "./request/parts.ts";
export { offeredTools } from "./request/tools.ts";
export { usageOf } from "./usage.ts";
export { tokenCount } from "../json/token-count.ts";
export { invalidReply } from "../openai/embeddings/skeleton-reply.ts";
