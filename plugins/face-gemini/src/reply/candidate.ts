/** Members of a candidate beside its content: why it ended, sources, log probabilities. */

import type { JsonObject, JsonValue } from "@sluice/contract";
import { isObject } from "@sluice/kit";
import { Members } from "@sluice/kit/dialect";

const FINISH = Members.table<string>({
  stop: "STOP",
  length: "MAX_TOKENS",
  tool_calls: "STOP",
  function_call: "STOP",
  content_filter: "SAFETY",
});
/** `FinishReason` of @google/genai 3.1.0: an upstream's own reason of this list is kept. */
const REASONS: ReadonlySet<string> = new Set([
  "STOP",
  "MAX_TOKENS",
  "SAFETY",
  "RECITATION",
  "LANGUAGE",
  "OTHER",
  "BLOCKLIST",
  "PROHIBITED_CONTENT",
  "SPII",
  "MALFORMED_FUNCTION_CALL",
  "IMAGE_SAFETY",
  "UNEXPECTED_TOOL_CALL",
  "TOO_MANY_TOOL_CALLS",
  "IMAGE_PROHIBITED_CONTENT",
  "NO_IMAGE",
  "IMAGE_RECITATION",
  "IMAGE_OTHER",
  "CONTINUATION",
  "MALFORMED_RESPONSE",
]);
/** What the provider of Google adds to a message, and its name in a candidate. */
const METADATA: readonly (readonly [string, string])[] = [
  ["grounding_metadata", "groundingMetadata"],
  ["citation_metadata", "citationMetadata"],
  ["url_context_metadata", "urlContextMetadata"],
];

/** Why a choice ended: `{finishReason, finishMessage?, safetyRatings?}`. */
export function finishOf(choice: JsonObject): JsonObject {
  const { native_finish_reason: native, finish_reason: reason } = choice;
  const ratings = choice.safety_ratings;
  const known = typeof native === "string" && REASONS.has(native) ? native : undefined;
  return Members.present({
    finishReason: known ?? (typeof reason === "string" ? (FINISH[reason] ?? "OTHER") : undefined),
    finishMessage: Members.textIn(choice.finish_message),
    safetyRatings: Array.isArray(ratings) ? ratings : undefined,
  });
}

/** The sources of an answer: Google's own metadata, and the URLs that other providers cite. */
export function sourcesOf(message: JsonObject): JsonObject {
  const own = METADATA.flatMap(([from, to]): [string, JsonValue][] => {
    const value = message[from];
    return isObject(value) ? [[to, value]] : [];
  });
  const cited = Members.objectsOf(message.annotations).flatMap(({ type, url_citation: url }) =>
    type === "url_citation" && isObject(url) ? [citationOf(url)] : [],
  );
  const citations = cited.length === 0 ? {} : { citationMetadata: { citationSources: cited } };
  return { ...citations, ...Object.fromEntries(own) };
}

function citationOf({ start_index, end_index, url, title }: JsonObject): JsonObject {
  return Members.present({ startIndex: start_index, endIndex: end_index, uri: url, title });
}

/** Log probabilities of a choice: `{avgLogprobs, logprobsResult}`; none without any. */
export function logprobsOf(tokens: readonly JsonObject[]): JsonObject {
  if (tokens.length === 0) return {};
  const chosen = tokens.map(tokenOf);
  const sum = chosen.reduce((all, { logProbability }) => all + Number(logProbability ?? 0), 0);
  const top = tokens.map(({ top_logprobs: list }) => ({
    candidates: Members.objectsOf(list).map(tokenOf),
  }));
  return {
    avgLogprobs: sum / tokens.length,
    logprobsResult: {
      ...(top.some(({ candidates }) => candidates.length > 0) ? { topCandidates: top } : {}),
      chosenCandidates: chosen,
    },
  };
}

function tokenOf({ token, logprob }: JsonObject): JsonObject {
  return Members.present({ token, logProbability: logprob });
}

/** The tokens of `logprobs` of a choice. */
export function tokensOf({ logprobs }: JsonObject): readonly JsonObject[] {
  return isObject(logprobs) ? Members.objectsOf(logprobs.content) : [];
}
