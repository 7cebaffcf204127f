/** Texts in the events of Gemini's `streamGenerateContent` (ai.google.dev/api/generate-content). */

import type { JsonObject, JsonValue } from "@sluice/contract";
import { isObject } from "@sluice/kit";
import { type JsonPath, withoutTokens } from "@sluice/kit/internals";
import {
  divided,
  otherMembers,
  otherPieces,
  type StreamDialect,
  type StreamPiece,
} from "./dialect.ts";
import { splitPieces, type SplitObject, writePieces } from "./pieces.ts";

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
  divide: (event) =>
    divided(event, "candidates", DIVISION)?.map(({ candidates, ...rest }, at) => ({
      ...rest,
      candidates: (candidates as readonly JsonValue[]).map((candidate) =>
        isObject(candidate) ? { index: at, ...candidate } : candidate,
      ),
    })),
  read(event) {
    const pieces = otherMembers(event, [], EVENT_MEMBERS);
    let ends: string | undefined;
    const follows: string[] = [];
    const candidates = Array.isArray(event.candidates)
      ? (event.candidates as readonly JsonValue[])
      : [];
    for (const [at, candidate] of candidates.entries()) {
      if (!isObject(candidate)) continue;
      const index = String(candidate.index ?? at);
      const base: JsonPath = ["candidates", at];
      if (isObject(candidate.content)) {
        readParts(candidate.content, index, [...base, "content"], pieces);
        if (hasCall(candidate.content)) follows.push(`${index}/`);
      }
      pieces.push(...otherMembers(candidate, base, CANDIDATE_MEMBERS));
      if (typeof candidate.finishReason === "string") ends = `${index}/`;
    }
    return {
      pieces,
      ...(ends === undefined ? {} : { ends }),
      ...(follows.length === 0 ? {} : { follows }),
    };
  },
  write: (event, pieces, texts) => withoutTokens(writePieces(event, pieces, texts)) as JsonObject,
  split: (event, pieces) => splitPieces(event, pieces, splitMember),
};

const DIVISION = {
  shared: new Set(["modelVersion", "responseId", "createTime"]),
  last: new Set(["usageMetadata"]),
};

/** The depth of a candidate in an event. */
const CANDIDATE_DEPTH = 2;

/** The member of an event, of a candidate or of its content, in one part of the event. */
function splitMember(
  name: string,
  value: JsonValue | undefined,
  { depth, isFirst, isLast }: SplitObject,
): JsonValue | undefined {
  if (depth === 0) {
    if (name === "usageMetadata") return isLast ? value : undefined;
    return isFirst || EVENT_MEMBERS.has(name) ? value : undefined;
  }
  if (name === "index" || name === "role") return value;
  if (depth > CANDIDATE_DEPTH) return isFirst ? value : undefined;
  // Log probabilities would reveal the original text of the other parts token by token.
  if (name === "logprobsResult" && !isFirst) return undefined;
  return isLast ? value : undefined;
}

function hasCall({ parts }: JsonObject): boolean {
  return (
    Array.isArray(parts) &&
    (parts as readonly JsonValue[]).some((part) => isObject(part) && isObject(part.functionCall))
  );
}

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
