/** What a message says, in the order of its `content_blocks`. */

import type { JsonObject, JsonValue } from "@sluice/contract";
import { Members } from "@sluice/kit/dialect";

/**
 * Deltas that say the message. Without `content_blocks`, or with one that does not fit, the message
 * is one delta: thoughts, text, calls.
 */
export function inOrder(message: JsonObject): readonly JsonObject[] {
  const { content_blocks: order, content, thinking_blocks, tool_calls, ...others } = message;
  const { provider_blocks, ...rest } = others;
  const places = Members.objectsOf(order);
  if (places.length === 0) return [message];
  const thoughts = Members.objectsOf(thinking_blocks);
  const calls = Members.objectsOf(tool_calls);
  const own = Members.objectsOf(provider_blocks);
  const text = typeof content === "string" ? content : "";
  const said: JsonObject[] = [];
  let at = 0;
  for (const { type, index, length } of places) {
    if (type === "text" && typeof length === "number") {
      said.push({ content: text.slice(at, at + length) });
      at += length;
    } else if (type === "thinking") said.push({ thinking_blocks: pick(thoughts, index) });
    else if (type === "tool_use") said.push({ tool_calls: pick(calls, index, true) });
    else if (type === "provider") said.push({ provider_blocks: pick(own, index) });
    else return [message];
  }
  const count = (kind: string): number => places.filter(({ type }) => type === kind).length;
  const fits =
    at === text.length &&
    count("thinking") === thoughts.length &&
    count("tool_use") === calls.length &&
    count("provider") === own.length;
  if (!fits) return [message];
  const { reasoning_content: _, ...more } = rest;
  return [...said, more];
}

function pick(
  list: readonly JsonObject[],
  index: JsonValue | undefined,
  isIndexed = false,
): readonly JsonObject[] {
  const found = typeof index === "number" ? list[index] : undefined;
  if (found === undefined) return [];
  return [isIndexed ? { ...found, index: index ?? 0 } : found];
}
