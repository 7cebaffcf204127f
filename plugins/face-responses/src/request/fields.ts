/** Members of a request beside its input and tools. */

import { isObject } from "@sluice/kit";
import { invalidField, Members } from "@sluice/kit/dialect";
import type { JsonObject, JsonValue } from "@sluice/contract";
import type { Notes } from "./notes.ts";
import { needsState, refused } from "./refusals.ts";

/** Members that this face reads. Others have the same name in the reference dialect. */
const READ = new Set(
  (
    "input instructions stream stream_options max_output_tokens max_tool_calls text reasoning tools tool_choice parallel_tool_calls include " +
    "previous_response_id conversation store background prompt truncation context_management client_metadata moderation top_logprobs " +
    "prompt_cache_options"
  ).split(" "),
);

/** Members of chat completions, and what a client of this API writes instead. */
const MOVED: Readonly<Record<string, string>> = Members.table({
  messages: "input",
  max_tokens: "max_output_tokens",
  max_completion_tokens: "max_output_tokens",
  response_format: "text.format",
  reasoning_effort: "reasoning.effort",
  verbosity: "text.verbosity",
  functions: "tools",
  function_call: "tool_choice",
  logprobs: "include",
  n: "one request for each answer",
});

/** The members that have the same name in the reference dialect. Throws for those of chat alone. */
export function sameFields(body: JsonObject): JsonObject {
  const kept: Record<string, JsonValue> = {};
  for (const [name, value] of Object.entries(body)) {
    if (value === undefined || value === null || READ.has(name)) continue;
    const instead = MOVED[name];
    if (instead !== undefined)
      throw refused(name, `${name} is no field of this API. Use ${instead}.`);
    kept[name] = value;
  }
  return kept;
}

/** A member that is true or false. Throws `invalid_field` for another value. */
export function flagIn(body: JsonObject, name: string): boolean | undefined {
  const value = body[name] ?? undefined;
  if (value !== undefined && typeof value !== "boolean") throw invalidField(name, "true or false");
  return value;
}

/** Throws for what needs a stored state. */
export function checkState(body: JsonObject): void {
  const { previous_response_id: previous, conversation } = body;
  flagIn(body, "store");
  if (isGiven(previous)) throw needsState("previous_response_id", "a stored response");
  if (isGiven(conversation)) throw needsState("conversation", "a stored conversation");
  if (flagIn(body, "background") === true)
    throw refused(
      "background",
      "background needs a stored response, and none is stored here for this key. Use stream, or ask the operator for the step responses with store and background on.",
    );
}

/** Members that only an upstream of this API can read, in the client's form. */
export function nativeFields(body: JsonObject, notes: Notes): JsonObject {
  const { prompt, moderation } = body;
  if (isGiven(prompt)) notes.native("prompt", "a stored prompt");
  if (isGiven(moderation)) notes.native("moderation", "the moderation of another API");
  return {
    ...(isGiven(prompt) ? { prompt } : {}),
    ...(isGiven(moderation) ? { moderation } : {}),
  };
}

/** Paths of members that have no effect here and do no harm. */
export function ignoredFields(body: JsonObject): readonly string[] {
  const names = ["client_metadata", "context_management", "max_tool_calls", "prompt_cache_options"];
  const { reasoning } = body;
  return [
    ...names.filter((name) => isGiven(body[name])),
    ...(body.truncation === "auto" ? ["truncation"] : []),
    ...(isGiven(body.top_logprobs) && body.top_logprobs !== 0 && !asksFor(body, LOGPROBS)
      ? ["top_logprobs"]
      : []),
    ...(isObject(reasoning)
      ? ["mode", "context"].filter((name) => isGiven(reasoning[name])).map((n) => `reasoning.${n}`)
      : []),
  ];
}

export const LOGPROBS = "message.output_text.logprobs";
export const ENVELOPES = "reasoning.encrypted_content";

/** Whether `include` names a value. */
export function asksFor({ include }: JsonObject, value: string): boolean {
  if (include === undefined || include === null) return false;
  if (!Array.isArray(include)) throw invalidField("include", "an array");
  return include.includes(value);
}

/** The members that have another name or form in the reference dialect. */
export function renamedFields(body: JsonObject): JsonObject {
  const text = objectIn(body, "text");
  const reasoning = objectIn(body, "reasoning");
  const hasLogprobs = asksFor(body, LOGPROBS);
  return Members.present({
    max_completion_tokens: numberIn(body, "max_output_tokens"),
    response_format: responseFormat(text.format),
    verbosity: textIn(text, "verbosity", "text."),
    reasoning_effort: textIn(reasoning, "effort", "reasoning."),
    logprobs: hasLogprobs ? true : undefined,
    top_logprobs: hasLogprobs ? numberIn(body, "top_logprobs") : undefined,
  });
}

/** Whether the client asked for readable summaries. */
export function asksForSummary(body: JsonObject): boolean {
  const { summary, generate_summary: old } = objectIn(body, "reasoning");
  const asked = summary ?? old;
  return typeof asked === "string" && asked !== "none";
}

function responseFormat(format: JsonValue | undefined): JsonObject | undefined {
  if (format === undefined || format === null) return undefined;
  if (!isObject(format)) throw invalidField("text.format", "an object");
  const { type, name, schema, strict, description } = format;
  if (type === "text") return undefined;
  if (type === "json_object") return { type };
  if (type !== "json_schema")
    throw invalidField("text.format.type", "text, json_object or json_schema");
  if (!isObject(schema)) throw invalidField("text.format.schema", "a JSON schema");
  if (typeof name !== "string") throw invalidField("text.format.name", "a string");
  return {
    type,
    json_schema: {
      name,
      schema,
      ...(typeof strict === "boolean" ? { strict } : {}),
      ...(typeof description === "string" ? { description } : {}),
    },
  };
}

function isGiven(value: JsonValue | undefined): boolean {
  return value !== undefined && value !== null;
}

function objectIn(body: JsonObject, name: string): JsonObject {
  const value = body[name] ?? {};
  if (!isObject(value)) throw invalidField(name, "an object");
  return value;
}

function numberIn(body: JsonObject, name: string): number | undefined {
  const value = body[name] ?? undefined;
  if (value !== undefined && typeof value !== "number") throw invalidField(name, "a number");
  return value;
}

function textIn(body: JsonObject, name: string, path: string): string | undefined {
  const value = body[name] ?? undefined;
  if (value !== undefined && typeof value !== "string") throw invalidField(path + name, "a string");
  return value;
}
