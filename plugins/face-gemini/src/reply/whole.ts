/** Whole replies: a chat completion as a `GenerateContentResponse`. */

import type { FaceContext, JsonObject } from "@sluice/contract";
import { isObject } from "@sluice/kit";
import { Members } from "@sluice/kit/dialect";
import { finishOf, logprobsOf, sourcesOf, tokensOf } from "./candidate.ts";
import { callParts, callsOf, otherParts, textPart, thoughtPart } from "./parts.ts";
import type { State } from "../request/read.ts";
import { keepMembers, signatureIn } from "../signatures.ts";
import { usageMetadata } from "./usage.ts";

/** The reply to `generateContent`. */
export function wholeReply(
  reply: JsonObject,
  state: State,
  { requestId, model }: FaceContext,
): JsonObject {
  return Members.present({
    candidates: Members.objectsOf(reply.choices).map((choice) => candidateOf(choice, state)),
    usageMetadata: usageMetadata(reply.usage),
    modelVersion: model,
    responseId: requestId,
  });
}

function candidateOf(choice: JsonObject, state: State): JsonObject {
  const message = isObject(choice.message) ? choice.message : {};
  return {
    content: { parts: partsOf(message, state), role: "model" },
    ...finishOf(choice),
    index: typeof choice.index === "number" ? choice.index : 0,
    ...sourcesOf(message),
    ...logprobsOf(tokensOf(choice)),
  };
}

function partsOf(message: JsonObject, state: State): readonly JsonObject[] {
  const thought = state.includesThoughts ? Members.textIn(message.reasoning_content) : undefined;
  const said = Members.textIn(message.content) ?? "";
  const text = said + (Members.textIn(message.refusal) ?? "");
  const signature = signatureIn(message);
  const calls = callParts(callsOf(message), keepMembers(undefined, message), state);
  const parts = [
    ...(thought === undefined ? [] : [thoughtPart(thought)]),
    ...(text === "" && signature === undefined ? [] : [textPart(text, signature)]),
    ...otherParts(message),
    ...calls,
  ];
  return parts.length === 0 ? [textPart("")] : joined(parts);
}

/** An empty text that holds a signature gives it to the text before. */
function joined(parts: readonly JsonObject[]): readonly JsonObject[] {
  const last = parts.at(-1);
  const before = parts.at(-2);
  const isJoined =
    last?.text === "" &&
    typeof before?.text === "string" &&
    before.thought !== true &&
    before.thoughtSignature === undefined;
  return isJoined ? [...parts.slice(0, -2), { ...last, text: before.text ?? "" }] : parts;
}
