/**
 * Lowers what a face writes beyond the reference dialect, for an upstream that takes the reference
 * dialect as it is: markers, errors of tools, blocks with a `source`, media in results.
 */

import type { JsonDocument, JsonObject, JsonValue } from "@sluice/contract";
import { isObject } from "@sluice/kit";
import { Members } from "@sluice/kit/dialect";

/**
 * Members that an upstream of the reference dialect refuses. Without them a reply stays the same.
 */
const HINTS = ["cache_control", "is_error"];
const FILE_NAME = "document.pdf";

/** The document in the reference dialect alone; the same one without extensions. */
export function lowerExtensions(document: JsonDocument): JsonDocument {
  const { messages, tools } = document.value;
  const changes: Record<string, JsonValue> = {};
  if (Array.isArray(messages)) changes.messages = lowerMessages(messages);
  if (Array.isArray(tools)) changes.tools = changedItems(tools, withoutHints);
  return document.with(changes);
}

/** The objects of a list, each changed; the same list where none is. */
function changedItems(
  list: readonly JsonValue[],
  change: (item: JsonObject) => JsonObject,
): readonly JsonValue[] {
  const items = Members.objectsOf(list);
  const changed = items.map(change);
  return isSame(changed, list) ? list : changed;
}

function isSame(changed: readonly JsonValue[], list: readonly JsonValue[]): boolean {
  return changed.length === list.length && changed.every((item, index) => item === list[index]);
}

/** Media of results stand in a message of the user after all results of the turn. */
function lowerMessages(messages: readonly JsonValue[]): readonly JsonValue[] {
  const lowered: JsonObject[] = [];
  let media: JsonObject[] = [];
  const flush = (): void => {
    if (media.length > 0) lowered.push({ role: "user", content: media });
    media = [];
  };
  for (const given of Members.objectsOf(messages)) {
    if (given.role !== "tool") flush();
    const message = withoutHints(given);
    const { content } = message;
    if (!Array.isArray(content)) {
      lowered.push(message);
      continue;
    }
    const blocks = changedItems(content, lowerBlock) as readonly JsonObject[];
    const isResult = message.role === "tool";
    if (!isResult || (blocks.length > 0 && blocks.every(isText))) {
      lowered.push(blocks === content ? message : { ...message, content: blocks });
      continue;
    }
    const texts = blocks.filter(isText);
    const others = blocks.filter((block) => !isText(block));
    if (others.length > 0) {
      const text = `Of the result of the call ${String(message.tool_call_id)}:`;
      media.push({ type: "text", text }, ...others);
    }
    lowered.push({ ...message, content: texts.length === 0 ? "" : texts });
  }
  flush();
  return isSame(lowered, messages) ? messages : lowered;
}

function isText({ type }: JsonObject): boolean {
  return type === "text";
}

function lowerBlock(given: JsonObject): JsonObject {
  const block = withoutHints(given);
  const { type, source, file } = block;
  if (type === "file" && isObject(file) && file.file_id === undefined)
    return { ...block, file: { filename: FILE_NAME, ...file } };
  if (!isObject(source)) return block;
  if (type === "image" && source.type === "url")
    return { type: "image_url", image_url: { url: source.url } };
  return type === "document" ? lowerDocument(block, source) : block;
}

/** A text with its title and context, or a file. Another source stays: the upstream refuses it. */
function lowerDocument(block: JsonObject, source: JsonObject): JsonObject {
  const { title, context } = block;
  const about = [title, context].flatMap((each) => Members.textIn(each) ?? []);
  switch (source.type) {
    case "text":
      return { type: "text", text: [...about, String(source.data)].join("\n\n") };
    case "base64": {
      const data = `data:${String(source.media_type)};base64,${String(source.data)}`;
      const filename = Members.textIn(title) ?? FILE_NAME;
      return { type: "file", file: { filename, file_data: data } };
    }
    case "file":
      return { type: "file", file: { file_id: source.file_id } };
    default:
      return block;
  }
}

function withoutHints(value: JsonObject): JsonObject {
  if (HINTS.every((name) => value[name] === undefined)) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => !HINTS.includes(name)));
}
