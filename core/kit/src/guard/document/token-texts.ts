/** Log probabilities in replies: they would reveal an edited text token by token. */

import type { JsonValue } from "@sluice/contract";
import { isObject } from "../../json/narrow.ts";
import { putMember } from "../../json/parse.ts";

/** Members with what a model gives to a tool: any name may stand in them. */
const ARGUMENTS: ReadonlySet<string> = new Set(["args", "arguments", "input"]);

/**
 * A reply, or a part of one, without the log probabilities in it: `logprobs` of chat completions
 * and of Responses become null or an empty list, as their schemas ask; `logprobsResult` of Gemini
 * is left out. The same value where it has none.
 */
export function withoutTokens(value: JsonValue): JsonValue {
  if (Array.isArray(value)) {
    const list = value as readonly JsonValue[];
    const made = list.map(withoutTokens);
    return made.some((item, at) => item !== list[at]) ? made : value;
  }
  if (!isObject(value)) return value;
  const made: Record<string, JsonValue> = {};
  let isChanged = false;
  for (const [name, member = null] of Object.entries(value)) {
    const left = ARGUMENTS.has(name) ? member : memberWithout(name, member);
    isChanged ||= left !== member;
    if (left !== undefined) putMember(made, name, left);
  }
  return isChanged ? made : value;
}

/** The longest tokens are runs of blanks. */
const MAX_TOKEN = 256;

/**
 * Whether a member of a reply is the log probabilities of its text, and nothing more: tokens repeat
 * a text that is judged beside them, and are removed when it is edited.
 */
export function isTokens(name: string, member: JsonValue): boolean {
  if (name === "logprobs") return areTokens(member);
  if (name !== "logprobsResult" || !isObject(member)) return false;
  const { chosenCandidates = [], topCandidates = [], logProbabilitySum: _sum, ...rest } = member;
  return (
    Object.keys(rest).length === 0 &&
    areTokens(chosenCandidates) &&
    Array.isArray(topCandidates) &&
    topCandidates.every((top: JsonValue) => isObject(top) && areTokens(top.candidates ?? []))
  );
}

function areTokens(list: JsonValue): boolean {
  return Array.isArray(list) && list.every((item: JsonValue) => isToken(item));
}

/** A token of Responses, with alternatives, or of Gemini. */
function isToken(value: JsonValue): boolean {
  if (!isObject(value)) return false;
  const { token, logprob, logProbability = logprob, bytes = [], top_logprobs: top = [] } = value;
  return (
    typeof token === "string" &&
    token.length <= MAX_TOKEN &&
    typeof logProbability === "number" &&
    Object.keys(value).every((name) => TOKEN_MEMBERS.has(name)) &&
    (bytes === null || (Array.isArray(bytes) && bytes.every((byte) => typeof byte === "number"))) &&
    areTokens(top)
  );
}

const TOKEN_MEMBERS: ReadonlySet<string> = new Set([
  "token",
  "tokenId",
  "logprob",
  "logProbability",
  "bytes",
  "top_logprobs",
]);

function memberWithout(name: string, member: JsonValue): JsonValue | undefined {
  if (name === "logprobsResult") return undefined;
  if (name !== "logprobs" || typeof member !== "object" || member === null)
    return withoutTokens(member);
  if (!Array.isArray(member)) return null;
  return member.length === 0 ? member : [];
}
