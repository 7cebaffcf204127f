/** A whole reply for a client that asked for a stream. */

import type { JsonObject, JsonValue, StreamReply } from "@sluice/contract";
import { isObject } from "@sluice/kit";
import { arrivedFrames, checkChunk, chunkFrame } from "@sluice/kit/internals";

/**
 * The stream of a whole chat completion: one chunk with the whole answer, and the usage chunk where
 * the client asked for it. Throws `upstream_invalid_response` for one that is too large for that.
 */
export function wholeAsStream(reply: JsonObject, includeUsage: boolean): StreamReply {
  const { usage, choices, ...names } = reply;
  const base = { ...names, object: "chat.completion.chunk" };
  const chunk = { ...base, choices: Array.isArray(choices) ? choices.map(asDelta) : [] };
  checkChunk(chunk);
  const frames = [chunkFrame(chunk)];
  if (includeUsage && isObject(usage)) frames.push(chunkFrame({ ...base, choices: [], usage }));
  return { kind: "stream", status: 200, frames: arrivedFrames(frames) };
}

function asDelta(choice: JsonValue): JsonValue {
  if (!isObject(choice)) return choice;
  const { message, ...rest } = choice;
  if (!isObject(message)) return { ...rest, delta: {} };
  const { tool_calls: calls } = message;
  if (!Array.isArray(calls)) return { ...rest, delta: message };
  const indexed = calls.map((call: JsonValue, index) =>
    isObject(call) ? { index, ...call } : call,
  );
  return { ...rest, delta: { ...message, tool_calls: indexed } };
}
