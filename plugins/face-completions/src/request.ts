/**
 * Requests of the legacy completions API as chat requests: one prompt is one message of the user
 * (platform.openai.com/docs/api-reference/completions/create).
 */

import type { FaceRequest, JsonDocument, JsonObject, JsonValue } from "@sluice/contract";
import { invalidField, Members } from "@sluice/kit/dialect";

/** Nothing of the request is needed for its reply. */
export type State = Readonly<Record<string, never>>;

/** Members that mean the same in a chat request, under the same names. */
const SAME: ReadonlySet<string> = new Set([
  "model",
  "stream",
  "stream_options",
  "temperature",
  "top_p",
  "n",
  "stop",
  "presence_penalty",
  "frequency_penalty",
  "logit_bias",
  "seed",
  "user",
  "metadata",
  "service_tier",
  "store",
  "safety_identifier",
  "prompt_cache_key",
  "prompt_cache_retention",
  "reasoning_effort",
  "verbosity",
]);
/** Read here. */
const OWN: ReadonlySet<string> = new Set(["prompt", "max_tokens", "best_of"]);
/** Members that ask for nothing with these values. */
const NOTHING: Readonly<Record<string, readonly JsonValue[]>> = {
  suffix: [""],
  echo: [false],
  logprobs: [],
};
/** The API's own default. */
const DEFAULT_MAX_TOKENS = 16;

/** Reads a request. Throws `invalid_field` for what a chat request cannot say. */
export function readRequest({ value }: JsonDocument): FaceRequest<State> {
  const { model, prompt, max_tokens: limit } = value;
  if (typeof model !== "string" || model === "") throw invalidField("model", "the id of a model");
  checkMembers(value);
  checkBestOf(value);
  const same = Object.entries(value).filter(([name]) => SAME.has(name));
  return {
    body: {
      ...(Object.fromEntries(same) as JsonObject),
      messages: [{ role: "user", content: promptOf(prompt) }],
      max_completion_tokens: maxTokens(limit),
    },
    state: {},
  };
}

/** Refuses members that a chat request has no place for. */
function checkMembers(body: JsonObject): void {
  for (const [name, value] of Object.entries(body)) {
    if (SAME.has(name) || OWN.has(name) || value === null || value === undefined) continue;
    if (Object.hasOwn(NOTHING, name) && NOTHING[name]?.includes(value) === true) continue;
    throw invalidField(
      name,
      "absent: completions are made by chat models, which have no form for it",
    );
  }
}

function promptOf(prompt: JsonValue | undefined): string {
  const list = Array.isArray(prompt) ? (prompt as readonly JsonValue[]) : [prompt];
  const [first] = list;
  if (typeof first === "number" || Array.isArray(first))
    throw invalidField("prompt", "a text: tokens belong to one model's encoding");
  if (list.length > 1)
    throw invalidField("prompt", "one text: send a request for each of several prompts");
  const text = Members.textIn(first);
  if (text === undefined) throw invalidField("prompt", "a text that is not empty");
  return text;
}

function maxTokens(limit: JsonValue | undefined): number {
  if (limit === undefined || limit === null) return DEFAULT_MAX_TOKENS;
  if (typeof limit !== "number" || !Number.isInteger(limit) || limit < 1)
    throw invalidField("max_tokens", "a whole number from 1 on");
  return limit;
}

/** As many candidates as answers is what a chat request does. */
function checkBestOf({ best_of: best, n }: JsonObject): void {
  if (best === undefined || best === null || best === (n ?? 1)) return;
  throw invalidField("best_of", "absent, or the same as n: no other candidates are made");
}
