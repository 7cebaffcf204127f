/**
 * `content_blocks` of an assistant's message: the order of its thoughts, texts and calls where it
 * is not that of the members. Each entry names a part by its place, so that an edit of a text, of a
 * guardrail for example, is an edit of the only copy.
 */

import type { JsonObject, JsonValue } from "@sluice/contract";
import { isObject } from "../../json/narrow.ts";
import { objectsOf } from "../reply.ts";
import type { ContentPart, TextPart } from "./parts.ts";

/** The parts of one message, by the member that holds them. */
export interface MessageParts<Call> {
  readonly thoughts: readonly ContentPart[];
  readonly content: readonly ContentPart[];
  readonly calls: readonly Call[];
}

/**
 * The parts in the order of `content_blocks`: `{type: "thinking", index}` of `thinking_blocks`,
 * `{type: "tool_use", index}` of `tool_calls`, `{type: "text", index}` of a list `content`,
 * `{type: "text", length}` of a text `content`: the next so many UTF-16 units, `{type: "provider",
 * index}` of `provider_blocks`. Returns `undefined`
 * without one, or for one that does not name each thought, call and unit of text once.
 */
export function inGivenOrder<Call>(
  { content_blocks: order, content }: JsonObject,
  path: string,
  said: MessageParts<Call>,
): (ContentPart | Call)[] | undefined {
  if (!Array.isArray(order)) return undefined;
  const waiting = new Map<string, ContentPart | Call>();
  said.thoughts.forEach((part, index) => waiting.set(`thinking ${index}`, part));
  said.calls.forEach((part, index) => waiting.set(`tool_use ${index}`, part));
  for (const part of textParts(order, content, path, said.content))
    waiting.set(`text ${part.path}`, part);
  const parts: (ContentPart | Call)[] = [];
  let texts = 0;
  for (const entry of order as readonly JsonValue[]) {
    if (!isObject(entry)) return undefined;
    const { type, index } = entry;
    // Blocks of the provider's own tools are in no request.
    if (type === "provider") continue;
    const isText = type === "text";
    const at = isText && Array.isArray(content) ? `${path}.content[${String(index)}]` : undefined;
    const key = isText
      ? `text ${at ?? `${path}.content ${texts++}`}`
      : `${String(type)} ${String(index)}`;
    const part = waiting.get(key);
    waiting.delete(key);
    // An empty text is no part.
    if (part !== undefined) parts.push(part);
    else if (!isText) return undefined;
  }
  return waiting.size === 0 ? parts : undefined;
}

/** The parts of the content; a text is divided by the lengths of the order. */
function textParts(
  order: readonly JsonValue[],
  content: JsonValue | undefined,
  path: string,
  parts: readonly ContentPart[],
): readonly ContentPart[] {
  const [first] = parts;
  if (typeof content !== "string" || first?.kind !== "text") return parts;
  const entries = objectsOf(order).filter(({ type }) => type === "text");
  const whole = entries.length === 1 && entries[0]?.length === undefined;
  const lengths = whole ? [content.length] : entries.map(({ length }) => Number(length));
  const pieces: TextPart[] = [];
  let at = 0;
  for (const [index, length] of lengths.entries()) {
    const text = content.slice(at, at + length);
    at += length;
    if (text.trim() !== "") pieces.push({ ...first, text, path: `${path}.content ${index}` });
  }
  return at === content.length ? pieces : parts;
}
