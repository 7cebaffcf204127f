/** For providers with another dialect: readers of requests, and writers of replies, streams and errors. */

export { ChunkWriter, createStreamTranslator } from "./chunk-writer.ts";
export { embeddingTexts, embeddingsReply } from "./embeddings.ts";
export {
  type FailureClass,
  type UpstreamFailure,
  errorBodyOf,
  readFailure,
  refusalOf,
  upstreamError,
  wordsOf,
} from "./errors.ts";
export { type FinishTable, finishReason } from "./finish.ts";
export { aspectRatioOf, imagesReply, readSize } from "./images.ts";
export { parseObject, present, textIn } from "./members.ts";
export { type Refuse, invalidField, refusalsOf } from "./refusal.ts";
export { type ChatAnswer, type ReplyCall, chatReply, extraContent, objectsOf, readJsonBody, readJsonEvent } from "./reply.ts";
export { BASIC_PARAMETERS, type ChatRequest, readChatRequest } from "./request/chat-request.ts";
export type { CallPart, Part, ResultPart, Turn } from "./request/conversation.ts";
export { type MediaSource, readMediaUrl } from "./request/data-url.ts";
export { type NameMap, type NameRule, mapId, mapToolNames } from "./request/names.ts";
export type { ContentPart, DocumentPart, ImagePart, TextPart } from "./request/parts.ts";
export { dataUrlOf, functionCall, functionTool, mediaText, textOrBlocks } from "./request/reference-shape.ts";
export { type RequestFields, readFields } from "./request/request-fields.ts";
export { type SchemaSubset, lowerSchema } from "./request/schema.ts";
export { hasLostThoughts, thinkingBudget } from "./request/thinking.ts";
export { type OfferedTools, type ToolDefinition, offeredTools } from "./request/tools.ts";
export { usageOf } from "./usage.ts";
export { tokenCount } from "../json/token-count.ts";
export { invalidReply } from "../openai/embeddings/skeleton-reply.ts";
