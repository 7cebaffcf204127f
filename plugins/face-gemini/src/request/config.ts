/** `generationConfig` as members of a chat request. */

import type { JsonObject, JsonValue } from "@sluice/contract";
import { isObject } from "@sluice/kit";
import { invalidField, Members } from "@sluice/kit/dialect";
import type { Fields } from "./fields.ts";
import { jsonSchemaOf } from "./schema.ts";

const HINTS = ["topK", "mediaResolution"] as const;
const ANY = Number.MAX_SAFE_INTEGER;
/** The reference dialect takes four texts that end an answer. */
const MAX_STOPS = 4;

const LEVELS = Members.table<string>({
  MINIMAL: "minimal",
  LOW: "low",
  MEDIUM: "medium",
  HIGH: "high",
});
/** The least budget of each effort. */
const EFFORTS: readonly (readonly [number, string])[] = [
  [10_000, "high"],
  [5_000, "medium"],
  [2_000, "low"],
  [1, "minimal"],
];

/** What the configuration asks for. */
export interface Generation {
  readonly body: JsonObject;
  /** Whether the client wants to see thoughts. */
  readonly includesThoughts: boolean;
}

/** Reads `generationConfig`. Throws `invalid_field` for what has no place in a chat request. */
export function generationOf(config: Fields | undefined): Generation {
  if (config === undefined) return { body: {}, includesThoughts: false };
  // Hints of sampling and of cost: most models have no such parameter.
  for (const name of HINTS) config.notes.drop(config.get(name));
  const thinking = config.object("thinkingConfig");
  const effort = thinking === undefined ? undefined : effortOf(thinking);
  const body = Members.present({
    temperature: config.number("temperature", 0, 2),
    top_p: config.number("topP", 0, 1),
    max_completion_tokens: config.number("maxOutputTokens", 1, ANY, true),
    n: choices(config),
    stop: stops(config),
    seed: config.number("seed", -ANY, ANY, true),
    presence_penalty: config.number("presencePenalty", -2, 2),
    frequency_penalty: config.number("frequencyPenalty", -2, 2),
    ...logprobs(config),
    response_format: format(config),
    modalities: modalities(config),
    reasoning_effort: effort,
    // Google's provider reads it under this name.
    image_config: native(config, "imageConfig"),
  });
  const includesThoughts = thinking?.flag("includeThoughts") === true;
  thinking?.end();
  config.end();
  return { body, includesThoughts };
}

function native(config: Fields, name: string): JsonValue | undefined {
  const found = config.get(name);
  config.notes.keepNative(found);
  return found?.value;
}

function choices(config: Fields): number | undefined {
  const count = config.number("candidateCount", 1, 8, true);
  return count === 1 ? undefined : count;
}

function stops(config: Fields): readonly string[] | undefined {
  const list = config.texts("stopSequences");
  if (list === undefined || list.length === 0) return undefined;
  if (list.length > MAX_STOPS)
    throw invalidField(config.get("stopSequences")?.path ?? "", `at most ${MAX_STOPS} texts`);
  return list;
}

function logprobs(config: Fields): JsonObject {
  const isAsked = config.flag("responseLogprobs") === true;
  const count = config.number("logprobs", 0, 20, true);
  if (!isAsked && count !== undefined)
    throw invalidField(config.get("logprobs")?.path ?? "", "absent without responseLogprobs: true");
  return isAsked ? { logprobs: true, ...(count === undefined ? {} : { top_logprobs: count }) } : {};
}

function format(config: Fields): JsonObject | undefined {
  const mime = config.get("responseMimeType");
  const own = config.get("responseSchema");
  const json = config.get("responseJsonSchema");
  if (mime !== undefined && mime.value !== "application/json" && mime.value !== "text/plain")
    config.notes.leaveNative(mime, "this type of answer");
  const given = json ?? own;
  if (given === undefined)
    return mime?.value === "application/json" ? { type: "json_object" } : undefined;
  if (mime === undefined || mime.value === "text/plain")
    throw invalidField(given.path, "beside responseMimeType: application/json");
  if (json !== undefined && !isObject(json.value)) throw invalidField(json.path, "a JSON schema");
  const schema = json?.value ?? jsonSchemaOf(own?.value, own?.path ?? "");
  return { type: "json_schema", json_schema: { name: "response", schema } };
}

function modalities(config: Fields): readonly JsonValue[] | undefined {
  const path = config.get("responseModalities")?.path ?? "";
  const list = config.texts("responseModalities")?.map((each) => each.toLowerCase()) ?? [];
  const wanted = list.filter((each) => each !== "modality_unspecified");
  if (wanted.some((each) => each !== "text" && each !== "image"))
    config.notes.leaveNative({ path }, "an answer in sound or video");
  const said = wanted.filter((each) => each === "text" || each === "image");
  return said.includes("image") ? said : undefined;
}

/** The effort; `undefined` where the model decides: without a budget, and with -1. */
function effortOf(thinking: Fields): string | undefined {
  const budget = thinking.number("thinkingBudget", -1, ANY, true);
  const level = thinking.text("thinkingLevel")?.toUpperCase();
  if (level !== undefined && level !== "THINKING_LEVEL_UNSPECIFIED") {
    if (budget !== undefined)
      throw invalidField(
        thinking.get("thinkingLevel")?.path ?? "",
        "absent beside thinkingBudget: a request has one of them",
      );
    const effort = LEVELS[level];
    if (effort === undefined)
      throw invalidField(thinking.get("thinkingLevel")?.path ?? "", "MINIMAL, LOW, MEDIUM or HIGH");
    return effort;
  }
  if (budget === undefined || budget === -1) return undefined;
  return EFFORTS.find(([from]) => budget >= from)?.[1] ?? "none";
}
