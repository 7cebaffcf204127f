/** The conversation: system texts, messages, results of tools. */

import type { JsonObject, JsonValue } from "@sluice/contract";
import { invalidField } from "@sluice/kit/dialect";
import { upstreamCallId } from "../call-ids.ts";
import { readAssistant } from "./assistant.ts";
import { contentBlocks, type ReadBlock, textBlock } from "./blocks.ts";
import {
  array,
  boolean,
  isSet,
  marker,
  name,
  type Notes,
  object,
  string,
  unknownMembers,
} from "./fields.ts";

const RESULT_MEMBERS = ["type", "tool_use_id", "content", "is_error", "cache_control"];

/** `messages` of the reference dialect, made of `system` and `messages`. */
export function readMessages(value: JsonObject, notes: Notes): readonly JsonObject[] {
  const list = array(value.messages, "messages");
  if (list.length === 0) throw invalidField("messages", "an array with at least one message");
  const messages = [
    ...readSystem(value.system, notes),
    ...list.flatMap((each, index) => readMessage(each, `messages[${index}]`, notes)),
  ];
  // The automatic cache marks the last block that it can.
  const last = messages.at(-1);
  if (last === undefined || !isSet(value.cache_control)) return messages;
  return [...messages.slice(0, -1), { ...last, ...marker(value, "request") }];
}

function readSystem(value: JsonValue | undefined, notes: Notes): JsonObject[] {
  if (!isSet(value) || value === "") return [];
  if (typeof value === "string") return [{ role: "system", content: value }];
  const content = array(value, "system").map((each, index) => {
    const block = object(each, `system[${index}]`);
    if (block.type !== "text") throw invalidField(`system[${index}].type`, "text");
    return textBlock(block, `system[${index}]`, notes);
  });
  return content.length === 0 ? [] : [{ role: "system", content }];
}

function readMessage(value: JsonValue, path: string, notes: Notes): JsonObject[] {
  const message = object(value, path);
  for (const each of unknownMembers(message, ["role", "content"]))
    notes.native(`${path}.${each}`, `the member ${each.slice(0, 64)} of a message`);
  switch (message.role) {
    case "user":
      return readUser(message, path, notes);
    case "assistant":
      return [readAssistant(message, path, notes)];
    case "system":
      return readInstruction(message, path, notes);
    default:
      throw invalidField(`${path}.role`, "user, assistant or system");
  }
}

/** Results stand before the rest: an upstream of the reference dialect takes them nowhere else. */
function readUser({ content }: JsonObject, path: string, notes: Notes): JsonObject[] {
  const at = `${path}.content`;
  if (typeof content === "string") return [{ role: "user", content }];
  const results: JsonObject[] = [];
  const blocks: ReadBlock[] = [];
  array(content, at).forEach((each, index) => {
    const block = object(each, `${at}[${index}]`);
    if (block.type === "tool_result") results.push(readResult(block, `${at}[${index}]`, notes));
    else blocks.push(...contentBlocks(block, `${at}[${index}]`, notes));
  });
  return blocks.length === 0 ? results : [...results, { role: "user", content: blocks }];
}

function readResult(block: JsonObject, path: string, notes: Notes): JsonObject {
  const { content } = block;
  for (const each of unknownMembers(block, RESULT_MEMBERS))
    notes.native(`${path}.${each}`, `the member ${each.slice(0, 64)} of a result`);
  const isError = boolean(block.is_error, `${path}.is_error`) === true;
  return {
    role: "tool",
    tool_call_id: upstreamCallId(name(block.tool_use_id, `${path}.tool_use_id`)),
    content:
      !isSet(content) || typeof content === "string"
        ? (content ?? "")
        : array(content, `${path}.content`).flatMap((each, index) => {
            const inner = object(each, `${path}.content[${index}]`);
            return contentBlocks(inner, `${path}.content[${index}]`, notes);
          }),
    ...(isError ? { is_error: true } : {}),
    ...marker(block, path),
  };
}

/** The label of instructions in the middle of a conversation. */
const OPEN = "<system>\n";
const CLOSE = "\n</system>";

/**
 * Instructions in the middle of a conversation. They keep their place, as a labelled text of the
 * user: at the head they would come before what they answer, and end the cached prefix.
 */
function readInstruction({ content }: JsonObject, path: string, notes: Notes): JsonObject[] {
  const at = `${path}.content`;
  if (typeof content === "string") return [{ role: "user", content: `${OPEN}${content}${CLOSE}` }];
  const all = array(content, at);
  // One label: the blocks are one text for the model, and for guardrails.
  const blocks = all.map((each, index) => {
    const block = object(each, `${at}[${index}]`);
    if (block.type !== "text") throw invalidField(`${at}[${index}].type`, "text");
    const { text, ...more } = textBlock(block, `${at}[${index}]`, notes);
    const before = index === 0 ? OPEN : "";
    const after = index === all.length - 1 ? CLOSE : "";
    return { ...more, text: `${before}${string(text, `${at}[${index}].text`)}${after}` };
  });
  return blocks.length === 0 ? [] : [{ role: "user", content: blocks }];
}
