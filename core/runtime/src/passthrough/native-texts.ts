/** The texts of a native event or reply, to count tokens of replies without reported usage. */

import type { JsonObject, JsonValue } from "@sluice/contract";
import { nativeStream } from "../guard/stream/native.ts";
import { otherPieces, type StreamTexts } from "../guard/stream/dialect.ts";
import { isObject } from "@sluice/kit";

/** The texts of an event. In an unknown dialect, all texts count. */
export function nativeTexts(event: JsonObject): string[] {
  if (isObject(event.error) || typeof event.error === "string") return [];
  // Vectors have no texts. The other members repeat the input.
  if (event.embedding !== undefined || event.embeddings !== undefined) return [];
  return converseTexts(event) ?? ollamaTexts(event) ?? wholeTexts(event) ?? streamTexts(event);
}

/** Bedrock's ConverseStream: deltas of blocks; `p` is padding. */
function converseTexts({
  contentBlockIndex,
  delta,
  start,
  role,
  stopReason,
  metrics,
}: JsonObject): string[] | undefined {
  if (typeof contentBlockIndex !== "number") {
    const isFrame =
      delta === undefined &&
      (typeof stopReason === "string" || isObject(metrics) || typeof role === "string");
    return isFrame ? [] : undefined;
  }
  const { text, reasoningContent, toolUse } = isObject(delta) ? delta : {};
  const begun = isObject(start) && isObject(start.toolUse) ? start.toolUse.name : undefined;
  return texts(
    text,
    isObject(reasoningContent) ? reasoningContent.text : undefined,
    isObject(toolUse) ? toolUse.input : undefined,
    begun,
  );
}

/** Ollama's own chat and generation. */
function ollamaTexts({ done, message, response, thinking }: JsonObject): string[] | undefined {
  if (typeof done !== "boolean") return undefined;
  const said = isObject(message) ? message : {};
  const calls = Array.isArray(said.tool_calls) ? [JSON.stringify(said.tool_calls)] : [];
  return [...texts(said.content, said.thinking, response, thinking), ...calls];
}

/** Whole replies, and their generated members. */
function wholeTexts(event: JsonObject): string[] | undefined {
  const {
    choices,
    content,
    output,
    completion,
    message,
    results,
    generation,
    type,
    event_type: kind,
  } = event;
  if (kind !== undefined) return kind === "text-generation" ? texts(event.text) : [];
  if (
    Array.isArray(choices) &&
    choices.some(
      (choice) => isObject(choice) && (isObject(choice.message) || choice.delta === undefined),
    )
  )
    return all(choices.filter(isObject).map(({ message: said, text }) => said ?? text ?? null));
  if (type === "message" && Array.isArray(content)) return all(content);
  if (event.object === "response") return output === undefined ? [] : all(output);
  if (typeof completion === "string") return [completion];
  if (isObject(output) && isObject(output.message)) return all(output.message);
  if (typeof event.id === "string" && isObject(message) && type === undefined) return all(message);
  if (typeof generation === "string") return [generation];
  return Array.isArray(results) && typeof event.inputTextTokenCount === "number"
    ? all(results)
    : undefined;
}

function streamTexts(event: JsonObject): string[] {
  let read: StreamTexts;
  try {
    read = nativeStream.read(event);
  } catch {
    return otherPieces(event, []).map(({ text }) => text);
  }
  // Later events of responses repeat the texts whole, and events of other dialects are named; a
  // call of Gemini comes whole.
  return read.pieces
    .filter(({ isWhole, path }) => isWhole !== true || path[0] === "candidates")
    .map(({ text }) => text);
}

function all(value: JsonValue): string[] {
  return otherPieces(value, []).map(({ text }) => text);
}

function texts(...values: readonly (JsonValue | undefined)[]): string[] {
  return values.filter((value) => typeof value === "string" && value !== "") as string[];
}
