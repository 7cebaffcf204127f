/**
 * Turns of a conversation as Cohere's messages, and the documents that stand beside them (its SDK
 * 5.20, `ChatMessageV2`).
 */

import {
  type Chat,
  type ContentPart,
  Members,
  Reference,
  type Refuse,
  ToolNames,
  type Turn,
} from "@sluice/kit/dialect";
import { Stages } from "@sluice/kit";
import type { JsonObject } from "@sluice/contract";

/**
 * Ids are the model's own words; what is odd or long is replaced alike in the call and its result.
 */
const CALL_ID: ToolNames.NameRule = { character: /[\x21-\x7e]/, maxLength: 128 };

/** The common settings of one request's messages. */
export interface MessageTerms {
  readonly names: ToolNames.NameMap;
  /**
   * Whether the model takes its thoughts back as such; others have a plan for their calls alone.
   */
  readonly isThinking: boolean;
  readonly refuse: Refuse;
}

/** A conversation as the API has it: documents are no part of any message. */
export interface CohereMessages {
  readonly messages: readonly JsonObject[];
  readonly documents: readonly JsonObject[];
}

/**
 * The messages of a conversation, its instructions in the one system message that may come first.
 * In stages.
 */
export function* messagesOf(
  system: readonly Chat.TextPart[],
  turns: readonly Turn[],
  terms: MessageTerms,
): Stages.Of<CohereMessages> {
  const documents: JsonObject[] = [];
  const ofTurn = (turn: Turn): JsonObject[] =>
    turn.role === "user" ? userMessages(turn, terms, documents) : assistantMessage(turn, terms);
  const messages = yield* Stages.flatMap(turns, ofTurn, new Stages.Clock());
  if (system.length > 0)
    messages.unshift({ role: "system", content: Reference.textOrBlocks(system.map(textBlock)) });
  return { messages, documents };
}

function userMessages(
  { parts }: Turn,
  { refuse }: MessageTerms,
  documents: JsonObject[],
): JsonObject[] {
  const messages: JsonObject[] = [];
  const blocks: JsonObject[] = [];
  for (const part of parts) {
    switch (part.kind) {
      case "result":
        messages.push({
          role: "tool",
          tool_call_id: ToolNames.mapId(part.id, CALL_ID),
          content: resultContent(part, refuse),
        });
        break;
      case "text":
        blocks.push(textBlock(part));
        break;
      case "image":
        blocks.push(imageBlock(part, refuse));
        break;
      case "document":
        documents.push(documentOf(part, refuse));
        break;
      case "audio":
      case "video":
      case "native":
        refuse(part.path, part.kind);
        break;
      // Neither is ever the user's.
      case "thinking":
      case "call":
        break;
      default:
        part satisfies never;
    }
  }
  // Cohere takes documents beside the messages: a turn of documents alone would be empty.
  const [first] = parts;
  if (blocks.length === 0 && messages.length === 0 && first !== undefined)
    refuse(first.path, "documents without a text beside them");
  return blocks.length === 0
    ? messages
    : [...messages, { role: "user", content: Reference.textOrBlocks(blocks) }];
}

function assistantMessage(
  { parts }: Turn,
  { names, isThinking, refuse }: MessageTerms,
): JsonObject[] {
  const calls: Chat.CallPart[] = [];
  const blocks: JsonObject[] = [];
  let thought = "";
  for (const part of parts) {
    if (part.kind === "call") calls.push(part);
    else if (part.kind === "text") blocks.push(textBlock(part));
    else if (part.kind === "thinking") thought += part.text;
    else refuse(part.path, `a block of type ${part.kind} of the assistant`);
  }
  if (thought !== "" && isThinking) blocks.unshift({ type: "thinking", thinking: thought });
  const message = {
    role: "assistant",
    ...(blocks.length === 0 ? {} : { content: Reference.textOrBlocks(blocks) }),
    ...(calls.length === 0 || thought === "" || isThinking ? {} : { tool_plan: thought }),
    ...(calls.length === 0
      ? {}
      : { tool_calls: calls.map((call) => Reference.functionCall(call, names, CALL_ID)) }),
  };
  // A turn of thoughts alone has nothing that the model takes.
  return blocks.length === 0 && calls.length === 0 ? [] : [message];
}

function resultContent({ parts }: Chat.ResultPart, refuse: Refuse): string | readonly JsonObject[] {
  return Reference.textOrBlocks(parts.map((part) => resultBlock(part, refuse)));
}

function resultBlock(part: ContentPart, refuse: Refuse): JsonObject {
  if (part.kind === "text") return textBlock(part);
  if (part.kind === "document") return { type: "document", document: documentOf(part, refuse) };
  return refuse(part.path, `a block of type ${part.kind} in the result of a tool`);
}

function textBlock({ text }: Chat.TextPart): JsonObject {
  return { type: "text", text };
}

function imageBlock({ source, path, detail }: Chat.ImagePart, refuse: Refuse): JsonObject {
  const detailMember = detail === undefined ? {} : { detail };
  switch (source.kind) {
    case "url":
      return { type: "image_url", image_url: { url: source.url, ...detailMember } };
    case "data":
      return {
        type: "image_url",
        image_url: { url: Reference.dataUrlOf(source), ...detailMember },
      };
    case "file":
    case "text":
      return refuse(path, `an image by a ${source.kind}`);
    default:
      return source satisfies never;
  }
}

/** Documents are texts with a title: the model cites them. */
function documentOf(
  { source, path, name, context }: Chat.DocumentPart,
  refuse: Refuse,
): JsonObject {
  const text = Reference.mediaText(source) ?? refuse(path, "a document that is no text");
  return { data: Members.present({ title: name, text, context }) };
}
