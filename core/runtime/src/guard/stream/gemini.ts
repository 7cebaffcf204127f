/** Texts in the events of Gemini's `streamGenerateContent` (ai.google.dev/api/generate-content). */

import type { JsonObject, JsonValue } from "@sluice/contract";
import { isObject } from "@sluice/kit";
import type { JsonPath } from "@sluice/kit/internals";
import {
  otherMembers,
  otherPieces,
  splitPieces,
  type StreamDialect,
  type StreamPiece,
  writePieces,
} from "./dialect.ts";

/** Members with the text of a channel, or without text. */
const EVENT_MEMBERS = new Set([
  "candidates",
  "usageMetadata",
  "modelVersion",
  "responseId",
  "createTime",
]);
const CANDIDATE_MEMBERS = new Set([
  "content",
  "finishReason",
  "index",
  "safetyRatings",
  "avgLogprobs",
  "logprobsResult",
]);
const PART_MEMBERS = new Set(["text", "thought", "thoughtSignature"]);

/** Candidates by index. A part is a text, a thought, or a whole item. */
export const geminiStream: StreamDialect = {
  read(event) {
    const pieces = otherMembers(event, [], EVENT_MEMBERS);
    let ends: string | undefined;
    const candidates = Array.isArray(event.candidates)
      ? (event.candidates as readonly JsonValue[])
      : [];
    for (const [at, candidate] of candidates.entries()) {
      if (!isObject(candidate)) continue;
      const index = String(candidate.index ?? at);
      const base: JsonPath = ["candidates", at];
      if (isObject(candidate.content))
        readParts(candidate.content, index, [...base, "content"], pieces);
      pieces.push(...otherMembers(candidate, base, CANDIDATE_MEMBERS));
      if (typeof candidate.finishReason === "string")
        ends = ends === undefined && candidates.length === 1 ? `${index}/` : "";
    }
    return ends === undefined ? { pieces } : { pieces, ends };
  },
  write: writePieces,
  split(event, pieces) {
    // The finish reason and the usage belong to the last of them.
    const events = splitPieces(event, pieces);
    return events.map((one, index) => (index === events.length - 1 ? one : withoutEnd(one)));
  },
};

function readParts(
  content: JsonObject,
  index: string,
  base: JsonPath,
  pieces: StreamPiece[],
): void {
  if (!Array.isArray(content.parts)) return;
  for (const [at, part] of (content.parts as readonly JsonValue[]).entries()) {
    const path = [...base, "parts", at];
    if (!isObject(part)) {
      pieces.push(...otherPieces(part, path));
      continue;
    }
    if (typeof part.text === "string" && part.text !== "") {
      const isThought = part.thought === true;
      const [name, said] = isThought
        ? (["thought", "reasoning"] as const)
        : (["text", "content"] as const);
      pieces.push({
        channel: `${index}/${name}`,
        part: said,
        path: [...path, "text"],
        text: part.text,
      });
    }
    pieces.push(...otherMembers(part, path, PART_MEMBERS));
  }
}

function withoutEnd(event: JsonObject): JsonObject {
  const { usageMetadata: _usage, ...rest } = event;
  const candidates = (event.candidates as readonly JsonValue[]).map((candidate) => {
    if (!isObject(candidate)) return candidate;
    const { finishReason: _reason, ...others } = candidate;
    return others;
  });
  return { ...rest, candidates };
}
