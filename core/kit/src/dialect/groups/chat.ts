/**
 * The types of a chat request as `readChatRequest` returns it, the same reader in stages, and the
 * types of the answer that `chatReply` takes.
 */

export type { ChatAnswer as Answer, ReplyCall } from "../reply.ts";
export {
  type ChatRequest as Request,
  chatRequestStages as requestStages,
} from "../request/chat-request.ts";
export type { CallPart, ResultPart } from "../request/conversation.ts";
export type { MediaSource } from "../request/data-url.ts";
export type { DocumentPart, ImagePart, TextPart } from "../request/parts.ts";
export type { OfferedTools, ToolDefinition } from "../request/tools.ts";
