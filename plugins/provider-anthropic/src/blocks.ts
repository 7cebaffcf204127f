/** Parts of a conversation as Anthropic's content blocks. */

import {
  type Chat,
  type ContentPart,
  Members,
  type Part,
  type Refuse,
  ToolNames,
  type Turn,
} from "@sluice/kit/dialect";
import { Stages } from "@sluice/kit";
import type { JsonObject } from "@sluice/contract";

const IMAGE_TYPES = new Set(["image/jpeg", "image/png", "image/gif", "image/webp"]);
/** Ids of calls (the API's own error: "String should match pattern '^[a-zA-Z0-9_-]+$'"). */
const CALL_ID: ToolNames.NameRule = { character: /[a-zA-Z0-9_-]/, maxLength: 64 };

/** Turns as messages. A turn of unsigned thoughts alone has nothing that the API takes. */
export function* messagesOf(
  turns: readonly Turn[],
  names: ToolNames.NameMap,
  refuse: Refuse,
): Stages.Of<JsonObject[]> {
  const clock = new Stages.Clock();
  const messages: JsonObject[] = [];
  for (const { role, parts } of turns) {
    const blocks = (part: Part): JsonObject[] => blocksOf(part, names, refuse);
    const content = yield* Stages.flatMap(parts, blocks, clock);
    if (content.length > 0) messages.push({ role, content });
  }
  return messages;
}

/** A text block of the instructions. */
export function textBlock(part: ContentPart & { readonly kind: "text" }): JsonObject {
  return { type: "text", text: part.text, ...marker(part) };
}

function blocksOf(part: Part, names: ToolNames.NameMap, refuse: Refuse): JsonObject[] {
  switch (part.kind) {
    case "call":
      return [
        {
          type: "tool_use",
          id: ToolNames.mapId(part.id, CALL_ID),
          name: names.toUpstream(part.name),
          input: part.input,
          ...marker(part),
        },
      ];
    case "result":
      return [
        {
          type: "tool_result",
          tool_use_id: ToolNames.mapId(part.id, CALL_ID),
          ...(part.parts.length === 0
            ? {}
            : { content: part.parts.flatMap((each) => contentBlocks(each, refuse)) }),
          ...(part.isError ? { is_error: true } : {}),
          ...marker(part),
        },
      ];
    default:
      return contentBlocks(part, refuse);
  }
}

function contentBlocks(part: ContentPart, refuse: Refuse): JsonObject[] {
  switch (part.kind) {
    case "text":
      return [textBlock(part)];
    case "image":
      return [
        { type: "image", source: imageSource(part.source, part.path, refuse), ...marker(part) },
      ];
    case "document":
      return [
        {
          type: "document",
          source: documentSource(part.source, part.path, refuse),
          ...Members.present({
            title: part.name,
            context: part.context,
            citations: part.citations,
          }),
          ...marker(part),
        },
      ];
    case "thinking":
      if (part.redacted !== undefined) return [{ type: "redacted_thinking", data: part.redacted }];
      // Only what the API signed is taken back; a thought without a signature belongs to another
      // provider.
      return part.signature === undefined
        ? []
        : [{ type: "thinking", thinking: part.text, signature: part.signature }];
    case "native":
      return [{ ...marker(part), ...part.block }];
    case "audio":
    case "video":
      return refuse(part.path, part.kind);
    default:
      return part satisfies never;
  }
}

function imageSource(source: Chat.MediaSource, path: string, refuse: Refuse): JsonObject {
  switch (source.kind) {
    case "url":
      return { type: "url", url: source.url };
    case "file":
      return { type: "file", file_id: source.id };
    case "data":
      if (!IMAGE_TYPES.has(source.mimeType))
        return refuse(path, `an image of type ${source.mimeType}`);
      return { type: "base64", media_type: source.mimeType, data: source.data };
    case "text":
      return refuse(path, "an image made of text");
    default:
      return source satisfies never;
  }
}

function documentSource(source: Chat.MediaSource, path: string, refuse: Refuse): JsonObject {
  switch (source.kind) {
    case "url":
      return { type: "url", url: source.url };
    case "file":
      return { type: "file", file_id: source.id };
    case "text":
      return { type: "text", media_type: "text/plain", data: source.text };
    case "data":
      if (source.mimeType === "application/pdf")
        return { type: "base64", media_type: source.mimeType, data: source.data };
      if (source.mimeType === "text/plain") {
        return {
          type: "text",
          media_type: "text/plain",
          data: Buffer.from(source.data, "base64").toString("utf8"),
        };
      }
      return refuse(path, `a document of type ${source.mimeType}`);
    default:
      return source satisfies never;
  }
}

/** The cache marker of a part, as the API writes it too. */
export function marker({ cacheControl }: { readonly cacheControl?: JsonObject }): JsonObject {
  return cacheControl === undefined ? {} : { cache_control: cacheControl };
}
