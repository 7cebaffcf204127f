/** Chat requests in the words of Acme. Name the page that documents them here. */

import { type ContentPart, invalidField, type Part, readChatRequest, type Refuse, type Turn } from "@sluice/kit/dialect";
import type { JsonObject, JsonValue, ProviderRequest } from "@sluice/spec";

/** Parameters of the reference dialect that the API has a way to say. Others are refused before `chatBody` sees them. */
export const PARAMETERS = ["temperature", "top_p", "max_tokens", "max_completion_tokens", "stop", "seed"] as const;

const SPEAKERS: Readonly<Record<Turn["role"], string>> = { user: "human", assistant: "model" };

/**
 * The body of a chat request. Throws `unsupported_parameter` for what the API cannot say: what is dropped in silence is found by
 * a user, much later. Throws `invalid_field` for what is wrong.
 */
export function chatBody(request: ProviderRequest): JsonObject {
  const chat = readChatRequest(request, { parameters: PARAMETERS });
  const dialogue = chat.turns.flatMap((turn) => {
    const say = textOf(turn.parts, chat.refuse);
    return say === "" ? [] : [{ speaker: SPEAKERS[turn.role], say }];
  });
  if (dialogue.length === 0) throw invalidField("messages", "a conversation with at least one message that is not empty");
  const sampling = known({ heat: chat.temperature, nucleus: chat.topP, dice: chat.seed });
  const limits = known({ most_written: chat.maxTokens, stop_at: chat.stop.length === 0 ? undefined : [...chat.stop] });
  return known({
    engine: request.target.model,
    instructions: chat.system.length === 0 ? undefined : textOf(chat.system, chat.refuse),
    dialogue,
    sampling: Object.keys(sampling).length === 0 ? undefined : sampling,
    limits: Object.keys(limits).length === 0 ? undefined : limits,
    delivery: request.stream ? "events" : "whole",
  });
}

/** Texts as one. Images, calls of tools and the rest are refused with their place until the API's way to say them is written here. */
function textOf(parts: readonly (ContentPart | Part)[], refuse: Refuse): string {
  const texts = parts.map((part) => {
    if (part.kind === "text") return part.text;
    // Thoughts of another provider mean nothing to this one.
    return part.kind === "thinking" ? "" : refuse(part.path, `a part of the kind ${part.kind}`);
  });
  return texts.filter((text) => text !== "").join("\n");
}

/** An object without the members that are unknown. */
function known(members: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as JsonObject;
}
