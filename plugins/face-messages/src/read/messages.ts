/** The conversation: system texts, messages, results of tools. */

import type { JsonObject, JsonValue } from "@sluice/contract";
import { Stages } from "@sluice/kit";
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
export function* readMessages(value: JsonObject, notes: Notes): Stages.Of<readonly JsonObject[]> {
  const list = array(value.messages, "messages");
  if (list.length === 0) throw invalidField("messages", "an array with at least one message");
  const clock = new Stages.Clock();
  const messages = yield* readSystem(value.system, notes, clock);
  for (const [index, each] of list.entries()) {
    yield* readMessage(each, `messages[${index}]`, { notes, clock, messages });
    if (clock.isOver()) yield;
  }
  // The automatic cache marks the last block that it can.
  const last = messages.at(-1);
  if (last === undefined || !isSet(value.cache_control)) return messages;
  return [...messages.slice(0, -1), { ...last, ...marker(value, "request") }];
}

/** What a message is read with. */
interface Reading {
  readonly notes: Notes;
  readonly clock: Stages.Clock;
  /** The messages of the reference dialect so far. */
  readonly messages: JsonObject[];
}

function* readSystem(
  value: JsonValue | undefined,
  notes: Notes,
  clock: Stages.Clock,
): Stages.Of<JsonObject[]> {
  if (!isSet(value) || value === "") return [];
  if (typeof value === "string") return [{ role: "system", content: value }];
  const content: JsonObject[] = [];
  for (const [index, each] of array(value, "system").entries()) {
    const block = object(each, `system[${index}]`);
    if (block.type !== "text") throw invalidField(`system[${index}].type`, "text");
    content.push(textBlock(block, `system[${index}]`, notes));
    if (clock.isOver()) yield;
  }
  return content.length === 0 ? [] : [{ role: "system", content }];
}

function* readMessage(value: JsonValue, path: string, reading: Reading): Stages.Of<void> {
  const message = object(value, path);
  const { notes, clock, messages } = reading;
  for (const each of unknownMembers(message, ["role", "content"]))
    notes.native(`${path}.${each}`, `the member ${each.slice(0, 64)} of a message`);
  switch (message.role) {
    case "user":
      yield* readUser(message, path, reading);
      break;
    case "assistant":
      messages.push(yield* readAssistant(message, path, notes, clock));
      break;
    case "system":
      yield* readInstruction(message, path, reading);
      break;
    default:
      throw invalidField(`${path}.role`, "user, assistant or system");
  }
}

/** Results stand before the rest: an upstream of the reference dialect takes them nowhere else. */
function* readUser(
  { content }: JsonObject,
  path: string,
  { notes, clock, messages }: Reading,
): Stages.Of<void> {
  const at = `${path}.content`;
  if (typeof content === "string") {
    messages.push({ role: "user", content });
    return;
  }
  const blocks: ReadBlock[] = [];
  for (const [index, each] of array(content, at).entries()) {
    const block = object(each, `${at}[${index}]`);
    if (block.type === "tool_result")
      messages.push(yield* readResult(block, `${at}[${index}]`, notes, clock));
    else blocks.push(...contentBlocks(block, `${at}[${index}]`, notes));
    if (clock.isOver()) yield;
  }
  if (blocks.length > 0) messages.push({ role: "user", content: blocks });
}

function* readResult(
  block: JsonObject,
  path: string,
  notes: Notes,
  clock: Stages.Clock,
): Stages.Of<JsonObject> {
  for (const each of unknownMembers(block, RESULT_MEMBERS))
    notes.native(`${path}.${each}`, `the member ${each.slice(0, 64)} of a result`);
  const isError = boolean(block.is_error, `${path}.is_error`) === true;
  return {
    role: "tool",
    tool_call_id: upstreamCallId(name(block.tool_use_id, `${path}.tool_use_id`)),
    content: yield* resultContent(block.content, `${path}.content`, notes, clock),
    ...(isError ? { is_error: true } : {}),
    ...marker(block, path),
  };
}

function* resultContent(
  content: JsonValue | undefined,
  path: string,
  notes: Notes,
  clock: Stages.Clock,
): Stages.Of<string | readonly ReadBlock[]> {
  if (!isSet(content)) return "";
  if (typeof content === "string") return content;
  const blocks: ReadBlock[] = [];
  for (const [index, each] of array(content, path).entries()) {
    const inner = object(each, `${path}[${index}]`);
    blocks.push(...contentBlocks(inner, `${path}[${index}]`, notes));
    if (clock.isOver()) yield;
  }
  return blocks;
}

/** The label of instructions in the middle of a conversation. */
const OPEN = "<system>\n";
const CLOSE = "\n</system>";

/**
 * Instructions in the middle of a conversation. They keep their place, as a labelled text of the
 * user: at the head they would come before what they answer, and end the cached prefix.
 */
function* readInstruction(
  { content }: JsonObject,
  path: string,
  { notes, clock, messages }: Reading,
): Stages.Of<void> {
  const at = `${path}.content`;
  if (typeof content === "string") {
    messages.push({ role: "user", content: `${OPEN}${content}${CLOSE}` });
    return;
  }
  const all = array(content, at);
  // One label: the blocks are one text for the model, and for guardrails.
  const blocks: JsonObject[] = [];
  for (const [index, each] of all.entries()) {
    const block = object(each, `${at}[${index}]`);
    if (block.type !== "text") throw invalidField(`${at}[${index}].type`, "text");
    const { text, ...more } = textBlock(block, `${at}[${index}]`, notes);
    const before = index === 0 ? OPEN : "";
    const after = index === all.length - 1 ? CLOSE : "";
    blocks.push({ ...more, text: `${before}${string(text, `${at}[${index}].text`)}${after}` });
    if (clock.isOver()) yield;
  }
  if (blocks.length > 0) messages.push({ role: "user", content: blocks });
}
