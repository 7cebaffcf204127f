/**
 * Turns of a conversation as Mistral's messages (its SDK 1.10, `AssistantMessage`, `ToolMessage`,
 * `ContentChunk`).
 */

import {
  type Chat,
  type ContentPart,
  Reference,
  type Refuse,
  ToolNames,
  type Turn,
} from "@sluice/kit/dialect";
import { Stages } from "@sluice/kit";
import type { JsonObject, JsonValue } from "@sluice/contract";

/**
 * Ids of calls have nine letters and digits (its own error 3280: "must be a-z, A-Z, 0-9, with a
 * length of 9").
 */
const CALL_ID: ToolNames.NameRule & { readonly exactLength: true } = {
  character: /[a-zA-Z0-9]/,
  maxLength: 9,
  exactLength: true,
};

/** The common settings of one request's messages. */
export interface MessageTerms {
  readonly names: ToolNames.NameMap;
  /** Whether the model takes its thoughts back; others refuse such a block. */
  readonly takesThoughts: boolean;
  readonly refuse: Refuse;
}

/** The messages of a conversation, its instructions first, in stages. */
export function* messagesOf(
  system: readonly ContentPart[],
  turns: readonly Turn[],
  terms: MessageTerms,
): Stages.Of<JsonObject[]> {
  const instructions: JsonObject[] =
    system.length === 0 ? [] : [{ role: "system", content: contentOf(system, terms) }];
  const ofTurn = (turn: Turn): JsonObject[] => messagesOfTurn(turn, terms);
  const said = yield* Stages.flatMap(turns, ofTurn, new Stages.Clock());
  const messages = [...instructions, ...said];
  const last = messages.at(-1);
  // With `prefix`, the model continues a final assistant message. Without it, it refuses one.
  if (last?.role === "assistant" && last.tool_calls === undefined)
    return [...messages.slice(0, -1), { ...last, prefix: true }];
  return messages;
}

function messagesOfTurn({ role, parts }: Turn, terms: MessageTerms): JsonObject[] {
  const results: JsonObject[] = [];
  const calls: Chat.CallPart[] = [];
  const rest: ContentPart[] = [];
  for (const part of parts) {
    if (part.kind === "call") calls.push(part);
    else if (part.kind !== "result") rest.push(part);
    else {
      const name = part.name === undefined ? {} : { name: terms.names.toUpstream(part.name) };
      results.push({
        role: "tool",
        tool_call_id: ToolNames.mapId(part.id, CALL_ID),
        ...name,
        content: contentOf(part.parts, terms),
      });
    }
  }
  const content = contentOf(rest, terms);
  if (calls.length === 0) return content.length === 0 ? results : [...results, { role, content }];
  return [
    ...results,
    {
      role,
      content,
      tool_calls: calls.map((call) => Reference.functionCall(call, terms.names, CALL_ID)),
    },
  ];
}

function contentOf(
  parts: readonly ContentPart[],
  terms: MessageTerms,
): string | readonly JsonObject[] {
  return Reference.textOrBlocks(parts.flatMap((part) => chunksOf(part, terms)));
}

function chunksOf(part: ContentPart, { refuse, takesThoughts }: MessageTerms): JsonObject[] {
  switch (part.kind) {
    case "text":
      return [{ type: "text", text: part.text }];
    case "image": {
      const url = urlOf(part.source, part.path, refuse);
      return [
        {
          type: "image_url",
          image_url: part.detail === undefined ? url : { url, detail: part.detail },
        },
      ];
    }
    case "audio":
      return [{ type: "input_audio", input_audio: part.data }];
    case "document":
      return [documentChunk(part, refuse)];
    case "thinking":
      // Thoughts that only another provider can decrypt are left out.
      if (!takesThoughts || part.redacted !== undefined) return [];
      return [{ type: "thinking", thinking: [{ type: "text", text: part.text }] }];
    case "video":
      return refuse(part.path, "a video");
    case "native":
      return refuse(part.path, "a block of another API");
    default:
      return part satisfies never;
  }
}

function documentChunk(part: Chat.DocumentPart, refuse: Refuse): JsonObject {
  const { source, path, name } = part;
  if (part.citations !== undefined) refuse(`${path}.citations`, "citations of a document");
  if (part.context !== undefined) refuse(`${path}.context`, "the context of a document");
  if (source.kind === "file") return { type: "file", file_id: source.id };
  if (source.kind === "text")
    return { type: "text", text: name === undefined ? source.text : `${name}\n\n${source.text}` };
  const title: { document_name?: JsonValue } = name === undefined ? {} : { document_name: name };
  return { type: "document_url", document_url: urlOf(source, path, refuse), ...title };
}

function urlOf(source: Chat.MediaSource, path: string, refuse: Refuse): string {
  switch (source.kind) {
    case "url":
      return source.url;
    case "data":
      return Reference.dataUrlOf(source);
    case "file":
      return refuse(path, "an image by the id of a file");
    case "text":
      return refuse(path, "an image made of text");
    default:
      return source satisfies never;
  }
}
