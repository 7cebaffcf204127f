/** For providers of another dialect: a request read once, and what a reply, a stream and an error are written with. */

export { BASIC_PARAMETERS, type ChatDialect, type ChatRequest, readChatRequest, type ResponseFormat } from "./chat-request.ts";
export { ChunkWriter, createStreamTranslator, type EventHandler, type StreamHandler } from "./chunk-writer.ts";
export { base64Bytes, type MediaSource, readBase64, readMediaUrl } from "./data-url.ts";
export { embeddingsReply, embeddingTexts } from "./embeddings.ts";
export {
  errorBodyOf,
  type FailureClass,
  type FailureWords,
  readFailure,
  refusalOf,
  upstreamError,
  type UpstreamFailure,
  wordsOf,
} from "./errors.ts";
export { enforcedReplies, type ReplyRules } from "./enforced-reply.ts";
export { FIELD_RULES, fieldRule, type FieldRule } from "./field-rules.ts";
export { finishReason, type FinishReason, type FinishTable } from "./finish.ts";
export { gatewayFieldKind, type GatewayFieldKind, isGatewayOnly, OWN_GATEWAY_FIELDS } from "./gateway-names.ts";
export { aspectRatioOf, imagesReply, readSize } from "./images.ts";
export { parseObject, present, textIn } from "./members.ts";
export { mapId, mapNames, mapToolNames, type NameMap, type NameRule } from "./names.ts";
export type { AudioPart, ContentPart, DocumentPart, ImagePart, TextPart, ThinkingPart, VideoPart } from "./parts.ts";
export { dataUrlOf, functionCall, functionTool, mediaText, textOrBlocks } from "./reference-shape.ts";
export { invalidField, type Refuse, refusalsOf } from "./refusal.ts";
export { readFields, type RequestFields } from "./request-fields.ts";
export { type ChatAnswer, chatReply, extraContent, objectsOf, readJsonBody, readJsonEvent, type ReplyCall } from "./reply.ts";
export { invalidReply } from "../openai/skeleton-reply.ts";
export { EXCEPTION_PREFIX } from "../stream/event-frames.ts";
export { lowerSchema, type SchemaSubset } from "./schema.ts";
export type { SettleTerms } from "./field-draft.ts";
export { droppedWith, settleFields, type SettledFields } from "./settle-fields.ts";
export { hasLostThoughts, thinkingBudget } from "./thinking.ts";
export { type NativeTool, type OfferedTools, offeredTools, type ToolChoice, type ToolDefinition, type ToolUse } from "./tools.ts";
export type { CallPart, Conversation, Part, ResultPart, Turn } from "./turns.ts";
export { tokenCount, usageJson, usageOf, type UsageParts } from "./usage.ts";
