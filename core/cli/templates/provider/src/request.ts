/**
 * Translates chat requests into Acme's format.
 * Name the page that documents the format here.
 */

import {
  type ContentPart,
  invalidField,
  type Part,
  readChatRequest,
  type Refuse,
  type Turn,
} from "@sluice/kit/dialect";
import type { JsonObject, JsonValue, ProviderRequest } from "@sluice/contract";

/**
 * Parameters of the reference dialect that the API supports. The gateway refuses others before
 * `chatBody` runs.
 */
export const PARAMETERS = [
  "temperature",
  "top_p",
  "max_tokens",
  "max_completion_tokens",
  "stop",
  "seed",
] as const;

const SPEAKERS: Readonly<Record<Turn["role"], string>> = { user: "human", assistant: "model" };

/**
 * Makes the body of a chat request. Throws `unsupported_parameter` for values that the API does not
 * support: never drop one without notice. Throws `invalid_field` for invalid values.
 */
export function chatBody(request: ProviderRequest): JsonObject {
  const chat = readChatRequest(request, { parameters: PARAMETERS });
  const dialogue = chat.turns.flatMap((turn) => {
    const say = textOf(turn.parts, chat.refuse);
    return say === "" ? [] : [{ speaker: SPEAKERS[turn.role], say }];
  });
  if (dialogue.length === 0)
    throw invalidField("messages", "a conversation with at least one message that is not empty");
  const sampling = known({ heat: chat.temperature, nucleus: chat.topP, dice: chat.seed });
  const limits = known({
    most_written: chat.maxTokens,
    stop_at: chat.stop.length === 0 ? undefined : [...chat.stop],
  });
  return known({
    engine: request.target.model,
    instructions: chat.system.length === 0 ? undefined : textOf(chat.system, chat.refuse),
    dialogue,
    sampling: Object.keys(sampling).length === 0 ? undefined : sampling,
    limits: Object.keys(limits).length === 0 ? undefined : limits,
    delivery: request.stream ? "events" : "whole",
  });
}

/**
 * Joins texts. Refuses images, tool calls and other parts with their place, until their translation
 * is added here.
 */
function textOf(parts: readonly (ContentPart | Part)[], refuse: Refuse): string {
  const texts = parts.map((part) => {
    if (part.kind === "text") return part.text;
    // Thinking blocks of another provider have no meaning for this one.
    return part.kind === "thinking" ? "" : refuse(part.path, `a part of the kind ${part.kind}`);
  });
  return texts.filter((text) => text !== "").join("\n");
}

/** Returns an object without its undefined members. */
function known(members: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined),
  ) as JsonObject;
}
