/** The texts of a reply that make up its completion tokens. */

import type { JsonObject, JsonValue } from "@sluice/contract";
import { isObject } from "@sluice/kit";

/** Members of a message or of a delta that hold generated text. */
const SPOKEN = ["content", "reasoning_content", "reasoning", "refusal"];

/**
 * The generated texts of a chat completion or of one of its chunks: contents, reasoning, refusals,
 * names and arguments of calls, the transcript of audio. Empty texts are left out.
 */
export function replyTexts(value: JsonObject): string[] {
  const choices = Array.isArray(value.choices) ? value.choices : [];
  return choices.flatMap((choice) => {
    if (!isObject(choice)) return [];
    const said = isObject(choice.message)
      ? choice.message
      : isObject(choice.delta)
        ? choice.delta
        : {};
    const calls = Array.isArray(said.tool_calls) ? said.tool_calls : [];
    return [
      ...SPOKEN.map((name) => said[name]),
      choice.text,
      isObject(said.audio) ? said.audio.transcript : undefined,
      ...callTexts(said.function_call),
      ...calls.flatMap((call) => (isObject(call) ? callTexts(call.function) : [])),
    ].filter((text): text is string => typeof text === "string" && text !== "");
  });
}

function callTexts(call: JsonValue | undefined): (JsonValue | undefined)[] {
  return isObject(call) ? [call.name, call.arguments] : [];
}
