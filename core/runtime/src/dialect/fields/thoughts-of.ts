/** Sealed reasoning in a request of a face: only the deployment that made it gets it. */

import type { JsonDocument, JsonObject, JsonValue } from "@sluice/contract";
import { isObject } from "@sluice/kit";

/**
 * The document for one deployment: without `thoughts_of`, and without the reasoning that another
 * deployment made. `thoughtsOf`: the deployments that the indices name.
 */
export function thoughtsFor(
  document: JsonDocument,
  thoughtsOf: readonly string[],
  deployment: string,
): JsonDocument {
  const { messages } = document.value;
  if (!Array.isArray(messages)) return document;
  const list = messages as readonly JsonValue[];
  return document.with({
    messages: list.map((message) => {
      if (!isObject(message) || message.thoughts_of === undefined) return message;
      const { thoughts_of: index, ...rest } = message;
      return thoughtsOf[Number(index)] === deployment ? rest : withoutThoughts(rest);
    }),
  });
}

/** A message without reasoning, and without the data that an upstream needs back of it. */
function withoutThoughts(message: JsonObject): JsonObject {
  const {
    reasoning_content: _readable,
    thinking_blocks: _blocks,
    extra_content: _extra,
    tool_calls: calls,
    ...rest
  } = message;
  if (!Array.isArray(calls)) return rest;
  return { ...rest, tool_calls: (calls as readonly JsonValue[]).map(withoutExtra) };
}

function withoutExtra(call: JsonValue): JsonValue {
  if (!isObject(call)) return call;
  const { extra_content: _extra, ...rest } = call;
  return rest;
}
