/**
 * Splits deltas with several calls, or with a call and the finish reason, into one chunk for each:
 * many clients read only the first call.
 */

import type { JsonObject, JsonValue } from "@sluice/contract";
import { isObject } from "../../json/narrow.ts";

/** The parts of a chunk, in order; the same chunk when no delta needs a split. */
export function splitCalls(chunk: JsonObject): readonly JsonObject[] {
  const { choices } = chunk;
  if (!Array.isArray(choices) || !choices.some((choice) => isCrowded(choice))) return [chunk];
  return choices.flatMap((choice: JsonValue) =>
    isCrowded(choice)
      ? partsOf(choice).map((part) => ({ ...chunk, choices: [part] }))
      : [{ ...chunk, choices: [choice] }],
  );
}

interface Crowded extends JsonObject {
  readonly delta: JsonObject & { readonly tool_calls: readonly JsonValue[] };
}

function isCrowded(choice: JsonValue): choice is Crowded {
  if (!isObject(choice) || !isObject(choice.delta)) return false;
  const { tool_calls: calls } = choice.delta;
  return Array.isArray(calls) && calls.length > (typeof choice.finish_reason === "string" ? 0 : 1);
}

function partsOf(choice: Crowded): JsonObject[] {
  const { index = 0, delta, ...end } = choice;
  const { tool_calls: calls, ...said } = delta;
  const parts = calls.map((call, at): JsonObject => ({
    index,
    delta: { ...(at === 0 ? said : {}), tool_calls: [call] },
    finish_reason: null,
  }));
  return typeof end.finish_reason === "string" ? [...parts, { index, delta: {}, ...end }] : parts;
}
