/** An earlier answer of the model: thoughts, texts and calls, in their order. */

import type { JsonObject, JsonValue } from "@sluice/contract";
import { isObject, type Stages } from "@sluice/kit";
import { upstreamCallId } from "../call-ids.ts";
import { keptExtra } from "../kept-extra.ts";
import { UNSIGNED } from "../unsigned.ts";
import { nativeBlock, textBlock } from "./blocks.ts";
import {
  array,
  isSet,
  marker,
  name,
  type Notes,
  object,
  string,
  unknownMembers,
} from "./fields.ts";

/** What one answer holds so far. */
interface Answer {
  readonly thoughts: JsonObject[];
  readonly content: JsonObject[];
  readonly calls: JsonObject[];
  /** See `content_blocks` of the reference dialect. */
  readonly order: JsonObject[];
  /** What the block before the next call has kept for it. */
  extra: JsonObject | undefined;
}

/** The message. `content_blocks` holds the order where it is not thoughts, texts, calls. */
export function* readAssistant(
  { content }: JsonObject,
  path: string,
  notes: Notes,
  clock: Stages.Clock,
): Stages.Of<JsonObject> {
  if (typeof content === "string") return { role: "assistant", content };
  const answer: Answer = { thoughts: [], content: [], calls: [], order: [], extra: undefined };
  const at = `${path}.content`;
  for (const [index, each] of array(content, at).entries()) {
    const block = object(each, `${at}[${index}]`);
    if (block.type === "tool_use") yield* notes.exact.prepare(block.input);
    readBlock(block, `${at}[${index}]`, answer, notes);
    if (clock.isOver()) yield;
  }
  const { thoughts, calls, order } = answer;
  const reasoning = thoughts
    .flatMap(({ thinking }) => (isSet(thinking) ? [thinking] : []))
    .join("");
  return {
    role: "assistant",
    content: contentOf(answer),
    ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
    ...(thoughts.length === 0 ? {} : { thinking_blocks: thoughts }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...(isUsual(order) ? {} : { content_blocks: order }),
  };
}

function contentOf({ content, calls }: Answer): JsonValue {
  const [first] = content;
  if (first === undefined) return calls.length > 0 ? null : "";
  const isText = content.length === 1 && first.type === "text" && first.cache_control === undefined;
  return isText ? (first.text ?? "") : content;
}

const RANKS = ["thinking", "text", "tool_use"];

function isUsual(order: readonly JsonObject[]): boolean {
  const ranks = order.map(({ type }) => RANKS.indexOf(String(type)));
  return ranks.every((rank, index) => index === 0 || rank >= (ranks[index - 1] ?? 0));
}

function readBlock(block: JsonObject, path: string, answer: Answer, notes: Notes): void {
  const { thoughts, content, calls, order } = answer;
  switch (string(block.type, `${path}.type`)) {
    case "redacted_thinking":
      if (readKept(block, answer, notes)) break;
      order.push({ type: "thinking", index: thoughts.length });
      thoughts.push({ type: "redacted_thinking", data: string(block.data, `${path}.data`) });
      break;
    case "thinking":
      order.push({ type: "thinking", index: thoughts.length });
      thoughts.push(thought(block, path, notes));
      break;
    case "tool_use":
      order.push({ type: "tool_use", index: calls.length });
      calls.push({
        ...call(block, path, notes),
        ...(answer.extra === undefined ? {} : { extra_content: answer.extra }),
      });
      answer.extra = undefined;
      break;
    case "text":
      order.push({ type: "text", index: content.length });
      content.push(textBlock(block, path, notes));
      break;
    default:
      order.push({ type: "text", index: content.length });
      content.push(nativeBlock(block, path, notes));
  }
}

/** Takes a block of the gateway's own. Returns whether it was one. */
function readKept({ data }: JsonObject, answer: Answer, notes: Notes): boolean {
  const extra = keptExtra(data);
  if (extra === undefined) return false;
  notes.mark();
  if (Object.keys(extra).length > 0) answer.extra = extra;
  return true;
}

/** A thought with the signature of its provider. The gateway's own stands for none. */
function thought(block: JsonObject, path: string, notes: Notes): JsonObject {
  const { signature } = block;
  if (signature === UNSIGNED) notes.mark();
  return {
    type: "thinking",
    thinking: string(block.thinking, `${path}.thinking`),
    ...(!isSet(signature) || signature === UNSIGNED || signature === ""
      ? {}
      : { signature: string(signature, `${path}.signature`) }),
  };
}

const CALL_MEMBERS = ["type", "id", "name", "input", "cache_control", "caller"];

function call(block: JsonObject, path: string, notes: Notes): JsonObject {
  const { caller } = block;
  for (const each of unknownMembers(block, CALL_MEMBERS))
    notes.native(`${path}.${each}`, `the member ${each.slice(0, 64)} of a call`);
  if (isSet(caller) && object(caller, `${path}.caller`).type !== "direct")
    notes.native(`${path}.caller`, "a call by a program");
  return {
    id: upstreamCallId(name(block.id, `${path}.id`)),
    type: "function",
    function: {
      name: name(block.name, `${path}.name`),
      arguments: argumentsOf(block, path, notes),
    },
    ...marker(block, path),
  };
}

/** The arguments as text. What the model wrote instead of an object is returned as it was. */
function argumentsOf({ input }: JsonObject, path: string, { exact }: Notes): string {
  const value = object(isSet(input) ? input : {}, `${path}.input`);
  const written = value.invalid_arguments;
  return isObject(value) && typeof written === "string" && Object.keys(value).length === 1
    ? written
    : JSON.stringify(exact.of(value));
}
