/**
 * Rules for optional fields that a provider does not support. Data: one row for each field, and
 * functions that read it.
 */

import type { JsonObject, JsonValue, Operation } from "@sluice/contract";
import { isObject } from "../../json/narrow.ts";

/** A row. In every row, the value `null` asks for nothing. */
export interface FieldRule {
  /**
   * The rule for a value that the provider does not support. `hint`: the value cannot change the
   * meaning of the reply, so it is dropped and listed. `demand`: the request is refused, or the
   * field dropped with `drop_params`.
   */
  readonly otherwise: "hint" | "demand";
  /** Whether a value is the API's default: left out for a provider without the field. */
  isDefault?(value: JsonValue): boolean;
  /** Whether a value is an empty list or map: left out for every provider. */
  isEmpty?(value: JsonValue): boolean;
  /** Fields that depend on this one: they are dropped with it. */
  readonly companions?: readonly string[];
}

const is =
  (wanted: JsonValue) =>
  (value: JsonValue): boolean =>
    value === wanted;
const isEmptyList = (value: JsonValue): boolean => Array.isArray(value) && value.length === 0;
const isEmptyMap = (value: JsonValue): boolean =>
  isObject(value) && Object.keys(value).length === 0;
const isOfType =
  (type: string) =>
  (value: JsonValue): boolean =>
    isObject(value) && value.type === type;

const DEMAND: FieldRule = { otherwise: "demand" };
const HINT: FieldRule = { otherwise: "hint" };

const CHAT: Readonly<Record<string, FieldRule>> = {
  temperature: DEMAND,
  top_p: { otherwise: "demand", isDefault: is(1) },
  max_tokens: DEMAND,
  max_completion_tokens: DEMAND,
  n: { otherwise: "demand", isDefault: is(1) },
  stop: { otherwise: "demand", isEmpty: (value) => value === "" || isEmptyList(value) },
  seed: HINT,
  presence_penalty: { otherwise: "demand", isDefault: is(0) },
  frequency_penalty: { otherwise: "demand", isDefault: is(0) },
  logit_bias: { otherwise: "demand", isEmpty: isEmptyMap },
  logprobs: { otherwise: "demand", isDefault: is(false), companions: ["top_logprobs"] },
  top_logprobs: { otherwise: "demand", isDefault: is(0) },
  tools: {
    otherwise: "demand",
    isEmpty: isEmptyList,
    companions: ["tool_choice", "parallel_tool_calls"],
  },
  tool_choice: { otherwise: "demand", isDefault: is("auto") },
  parallel_tool_calls: { otherwise: "demand", isDefault: is(true) },
  functions: { otherwise: "demand", isEmpty: isEmptyList, companions: ["function_call"] },
  function_call: { otherwise: "demand", isDefault: is("auto") },
  response_format: { otherwise: "demand", isDefault: isOfType("text") },
  prediction: HINT,
  modalities: {
    otherwise: "demand",
    isDefault: (value) => Array.isArray(value) && value.length === 1 && value[0] === "text",
    isEmpty: isEmptyList,
    companions: ["audio"],
  },
  audio: DEMAND,
  reasoning_effort: DEMAND,
  verbosity: { otherwise: "demand", isDefault: is("medium") },
  service_tier: { otherwise: "hint", isDefault: is("auto") },
  store: { otherwise: "hint", isDefault: is(false) },
  web_search_options: DEMAND,
  thinking: { otherwise: "demand", isDefault: isOfType("disabled") },
  user: HINT,
  safety_identifier: HINT,
  prompt_cache_key: HINT,
  prompt_cache_retention: HINT,
};

const isAuto = is("auto");

/** Rules by operation and field. */
export const FIELD_RULES: Partial<Record<Operation, Readonly<Record<string, FieldRule>>>> = {
  chat: CHAT,
  embeddings: {
    encoding_format: { otherwise: "demand", isDefault: is("float") },
    dimensions: DEMAND,
    user: HINT,
  },
  images: {
    n: { otherwise: "demand", isDefault: is(1) },
    size: { otherwise: "demand", isDefault: isAuto },
    quality: { otherwise: "demand", isDefault: isAuto },
    style: DEMAND,
    response_format: DEMAND,
    background: { otherwise: "demand", isDefault: isAuto },
    output_format: DEMAND,
    output_compression: DEMAND,
    moderation: { otherwise: "demand", isDefault: isAuto },
    user: HINT,
  },
};

/**
 * The rules in maps: an object that is read by names of clients makes V8 compile its readers again
 * and again.
 */
const RULES: ReadonlyMap<string, ReadonlyMap<string, FieldRule>> = new Map(
  Object.entries(FIELD_RULES).map(([operation, rules]) => [
    operation,
    new Map(Object.entries(rules)),
  ]),
);

/** The rule of a field; `undefined` for a required field and for an unknown one. */
export function fieldRule(operation: Operation, name: string): FieldRule | undefined {
  return RULES.get(operation)?.get(name);
}

/**
 * Whether a value asks for nothing at a provider without the field: null, an empty list or map, the
 * API's default.
 */
export function asksNothing(rule: FieldRule, value: JsonValue | undefined): boolean {
  return (
    value === undefined ||
    value === null ||
    rule.isEmpty?.(value) === true ||
    rule.isDefault?.(value) === true
  );
}

/**
 * The fields of an operation that a provider supports: `parameters` if it lists any, without tools
 * where it has none.
 */
export function takesField(
  name: string,
  {
    parameters,
    tools,
  }: { readonly parameters: readonly string[] | undefined; readonly tools: boolean },
): boolean {
  return (parameters === undefined || parameters.includes(name)) && (tools || !isToolField(name));
}

/** Whether a field is about tools. */
export function isToolField(name: string): boolean {
  return TOOL_FIELDS.has(name);
}

const TOOL_FIELDS: ReadonlySet<string> = new Set([
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "functions",
  "function_call",
]);

/** Whether a body offers a tool or a function. */
export function offersTools({ tools, functions }: JsonObject): boolean {
  return [tools, functions].some((list) => Array.isArray(list) && list.length > 0);
}
