/**
 * Reads a chat request of the reference dialect for translators of another dialect. Parts without a
 * translation are refused.
 */

import type { JsonObject, JsonValue, ProviderRequest } from "@sluice/contract";
import { isObject } from "../../json/narrow.ts";
import * as Stages from "../../stages.ts";
import { TOOL_PARAMETERS } from "../../openai/parameters.ts";
import { asksNothing, fieldRule } from "../fields/rules.ts";
import { invalidField, type Refuse, refusalsOf } from "../refusal.ts";
import { readToolUse, type ToolUse } from "./tools.ts";
import { type Conversation, readConversation } from "./conversation.ts";

/** Chat parameters of the reference dialect that all present dialects support. */
export const BASIC_PARAMETERS: readonly string[] = [
  "temperature",
  "top_p",
  "max_tokens",
  "max_completion_tokens",
  "stop",
  "response_format",
  ...TOOL_PARAMETERS,
];

/** The abilities of a dialect. */
export interface ChatDialect {
  /** Supported parameters of the reference dialect: the same list as `capabilities.parameters`. */
  readonly parameters: readonly string[];
  /** The provider's own top-level members, which are passed on unchanged: `top_k`. */
  readonly native?: readonly string[];
  /** Whether instructions alone become a user turn, for an API that requires one. */
  readonly needsTurn?: true;
  /**
   * Whether an assistant's thoughts, texts and calls may stand in any order: that of
   * `content_blocks`. Absent: thoughts, texts, calls.
   */
  readonly keepsOrder?: true;
  /**
   * Whether it is the dialect of a face that wraps blocks without a form in the reference dialect:
   * its translator gets them as parts of the kind `native`. Absent: they are refused.
   */
  readonly takesNativeBlocks?: true;
  /** Whether a tool of this type is the provider's own. Absent: false for all types. */
  isNativeTool?(type: string): boolean;
}

/** The requested format of the answer. */
export type ResponseFormat =
  | { readonly type: "json_object" }
  | {
      readonly type: "json_schema";
      readonly name: string;
      readonly description: string | undefined;
      readonly schema: JsonObject;
      readonly strict: boolean | undefined;
      readonly schemaPath: string;
    };

/** A client's request in one form. */
export interface ChatRequest extends Conversation, ToolUse {
  readonly temperature: number | undefined;
  readonly topP: number | undefined;
  /** `max_completion_tokens`, else `max_tokens`. */
  readonly maxTokens: number | undefined;
  /** Empty when there is none. */
  readonly stop: readonly string[];
  readonly seed: number | undefined;
  readonly presencePenalty: number | undefined;
  readonly frequencyPenalty: number | undefined;
  /** `undefined` for text, the default. */
  readonly responseFormat: ResponseFormat | undefined;
  /** `none`, `minimal`, `low`, `medium`, `high`, `xhigh`, …, as the client sent it. */
  readonly reasoningEffort: string | undefined;
  /** Anthropic's form of the same: `{type, budget_tokens}`. */
  readonly thinking: JsonObject | undefined;
  readonly user: string | undefined;
  /** The client's body, for members that this reader does not read. */
  readonly body: JsonObject;
  /** The members that the dialect passes on unchanged. */
  readonly native: JsonObject;
  readonly refuse: Refuse;
  /** Parameters that the translator leaves out of this request: `dropped` of the call. */
  readonly dropped: string[];
}

/** Members of every chat request, and members that the gateway itself honours. */
const GENERAL = new Set(["model", "messages", "stream", "stream_options", "user", "metadata"]);

/**
 * Reads a chat request. Throws `invalid_field` for a fault of the client. Throws
 * `unsupported_parameter` for a part that the dialect does not support: an unlisted parameter, a
 * block or a tool of an unknown kind. Only values that ask for the default behaviour are left out
 * silently.
 */
export function readChatRequest(request: ProviderRequest, dialect: ChatDialect): ChatRequest {
  return Stages.atOnce(chatRequestStages(request, dialect));
}

/** Reads a chat request in stages: a conversation may be long. */
export function* chatRequestStages(
  request: ProviderRequest,
  dialect: ChatDialect,
): Stages.Of<ChatRequest> {
  const body = request.document.value;
  const refuse = refusalsOf(request);
  const native: Record<string, JsonValue | undefined> = {};
  for (const [name, value] of Object.entries(body)) {
    if (dialect.native?.includes(name) === true) native[name] = value;
    else if (isAsked(name, value) && !GENERAL.has(name) && !dialect.parameters.includes(name)) {
      refuse(name, `the parameter ${name}`);
    }
  }
  if (body.n !== undefined && body.n !== null && body.n !== 1 && !dialect.parameters.includes("n"))
    refuse("n", "more than one choice");
  const conversation = yield* readConversation(body.messages, refuse, dialect);
  return {
    ...(dialect.needsTurn === true ? withTurn(conversation) : conversation),
    ...readToolUse(body, refuse, (type) => dialect.isNativeTool?.(type) === true),
    temperature: number(body, "temperature"),
    topP: number(body, "top_p"),
    maxTokens: number(body, "max_completion_tokens") ?? number(body, "max_tokens"),
    stop: readStop(body.stop),
    seed: number(body, "seed"),
    presencePenalty: number(body, "presence_penalty"),
    frequencyPenalty: number(body, "frequency_penalty"),
    responseFormat: readFormat(body.response_format, refuse),
    reasoningEffort: text(body, "reasoning_effort"),
    thinking: isObject(body.thinking) ? body.thinking : undefined,
    user: text(body, "user"),
    body,
    native,
    refuse,
    dropped: [],
  };
}

function isAsked(name: string, value: JsonValue | undefined): boolean {
  const rule = fieldRule("chat", name);
  return rule === undefined ? value !== undefined && value !== null : !asksNothing(rule, value);
}

/** Turns instructions without messages into a user turn. */
function withTurn(conversation: Conversation): Conversation {
  const { system, turns } = conversation;
  return turns.length > 0 || system.length === 0
    ? conversation
    : { system: [], turns: [{ role: "user", parts: system }] };
}

function number(body: JsonObject, name: string): number | undefined {
  const value = body[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "number") throw invalidField(name, "a number");
  return value;
}

function text(body: JsonObject, name: string): string | undefined {
  const value = body[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string") throw invalidField(name, "a string");
  return value;
}

function readStop(value: JsonValue | undefined): readonly string[] {
  if (value === undefined || value === null) return [];
  const stops: readonly JsonValue[] = Array.isArray(value)
    ? (value as readonly JsonValue[])
    : [value as JsonValue];
  return stops.map((stop, index) => {
    if (typeof stop !== "string")
      throw invalidField(Array.isArray(value) ? `stop[${index}]` : "stop", "a string");
    return stop;
  });
}

function readFormat(value: JsonValue | undefined, refuse: Refuse): ResponseFormat | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isObject(value)) throw invalidField("response_format", "an object");
  if (value.type === "text") return undefined;
  if (value.type === "json_object") return { type: "json_object" };
  if (value.type !== "json_schema")
    return refuse("response_format", `the format ${String(value.type).slice(0, 64)}`);
  const format = value.json_schema;
  if (!isObject(format) || !isObject(format.schema))
    throw invalidField("response_format.json_schema.schema", "a JSON schema");
  return {
    type: "json_schema",
    name: typeof format.name === "string" ? format.name : "response",
    description: typeof format.description === "string" ? format.description : undefined,
    schema: format.schema,
    strict: typeof format.strict === "boolean" ? format.strict : undefined,
    schemaPath: "response_format.json_schema.schema",
  };
}
