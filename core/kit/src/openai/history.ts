/**
 * Adapts messages of earlier turns to an upstream of the reference dialect. Messages without
 * changes keep their bytes.
 */

import type { JsonDocument, JsonObject, JsonValue } from "@sluice/contract";
import { mapId, type NameRule } from "../dialect/request/names.ts";
import { isObject } from "../json/narrow.ts";

/** The messages that an upstream refuses. */
export interface HistoryRules {
  /** The upstream refuses unknown members: members that the gateway adds to replies are removed. */
  readonly isStrict?: true;
  /** The members among them that it accepts. */
  readonly takes?: readonly string[];
  /**
   * The maximum length of a call's id. Longer ids are shortened, equally in the call and in its
   * result.
   */
  readonly maxIdCharacters?: number;
  /**
   * The upstream refuses an empty list of blocks: such a turn is left out, or gets an empty text
   * where it must stay.
   */
  readonly refusesEmptyContent?: true;
}

/**
 * Members of messages and calls that the gateway's own translations make. OpenAI requests do not
 * have them.
 */
const OWN_MEMBERS = [
  "reasoning_content",
  "thinking_blocks",
  "content_blocks",
  "extra_content",
  "provider_specific_fields",
  "provider_blocks",
  "citations",
] as const;
const OWN_NAMES: ReadonlySet<string> = new Set(OWN_MEMBERS);

/** The document with adapted messages. */
export function adaptHistory(document: JsonDocument, rules: HistoryRules): JsonDocument {
  const { messages } = document.value;
  if (
    !Array.isArray(messages) ||
    !messages.some((message: JsonValue) => mayNeedChange(message, rules))
  )
    return document;
  const adapted = (messages as readonly JsonValue[]).flatMap((message): readonly JsonValue[] =>
    isObject(message) ? adaptMessage(message, rules) : [message],
  );
  const isSame =
    adapted.length === messages.length &&
    adapted.every((message, index) => message === messages[index]);
  return isSame ? document : document.with({ messages: adapted });
}

/**
 * Whether a message has a member that the rules concern. Most messages have only a role and a text.
 */
function mayNeedChange(
  message: JsonValue,
  { isStrict, maxIdCharacters, refusesEmptyContent }: HistoryRules,
): boolean {
  if (!isObject(message)) return false;
  for (const name in message) {
    if (name === "role") continue;
    if (name === "content") {
      if (refusesEmptyContent === true && isEmptyList(message.content)) return true;
    } else if (name === "tool_calls") {
      return true;
    } else if (name === "tool_call_id") {
      if (maxIdCharacters !== undefined) return true;
    } else if (isStrict === true && OWN_NAMES.has(name)) return true;
  }
  return false;
}

/** A message adapted to the rules, in a list; an empty list if it is left out. */
export function adaptMessage(message: JsonObject, rules: HistoryRules): readonly JsonObject[] {
  let kept = withoutOwnMembers(message, rules);
  const { tool_calls: calls, tool_call_id: result } = kept;
  if (Array.isArray(calls)) {
    const adapted = calls.map((call: JsonValue) =>
      isObject(call) ? adaptCall(call, rules) : call,
    );
    if (adapted.some((call, index) => call !== calls[index]))
      kept = { ...kept, tool_calls: adapted };
  }
  if (typeof result === "string") {
    const id = shortId(result, rules);
    if (id !== result) kept = { ...kept, tool_call_id: id };
  }
  if (rules.refusesEmptyContent !== true || !isEmptyList(kept.content)) return [kept];
  return withoutEmptyContent(kept);
}

function adaptCall(call: JsonObject, rules: HistoryRules): JsonObject {
  const kept = withoutOwnMembers(call, rules);
  const id = typeof kept.id === "string" ? shortId(kept.id, rules) : kept.id;
  return id === kept.id || id === undefined ? kept : { ...kept, id };
}

function withoutOwnMembers(value: JsonObject, { isStrict, takes }: HistoryRules): JsonObject {
  if (isStrict !== true) return value;
  const refused = OWN_MEMBERS.filter(
    (name) => value[name] !== undefined && takes?.includes(name) !== true,
  );
  if (refused.length === 0) return value;
  return Object.fromEntries(
    Object.entries(value).filter(([name]) => !refused.some((own) => own === name)),
  );
}

/** The same id gives the same short id, so no memory of the conversation is needed. */
function shortId(id: string, { maxIdCharacters }: HistoryRules): string {
  if (maxIdCharacters === undefined || id.length <= maxIdCharacters) return id;
  const rule: NameRule = { character: /[A-Za-z0-9_-]/, maxLength: maxIdCharacters };
  return mapId(id, rule);
}

function isEmptyList(content: JsonValue | undefined): boolean {
  return Array.isArray(content) && content.length === 0;
}

function withoutEmptyContent(message: JsonObject): readonly JsonObject[] {
  const saysMore = [message.tool_calls, message.function_call, message.refusal, message.audio].some(
    (value) => value !== undefined && value !== null && !isEmptyList(value),
  );
  if (message.role === "assistant" && saysMore) return [{ ...message, content: null }];
  return message.role === "tool" || message.role === "function"
    ? [{ ...message, content: "" }]
    : [];
}
