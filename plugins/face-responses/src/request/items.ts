/** The items of `input` as messages of the reference dialect. */

import { isObject, Stages } from "@sluice/kit";
import { invalidField, Members } from "@sluice/kit/dialect";
import type { FaceMeans, JsonObject, JsonValue } from "@sluice/contract";
import { isEnvelope, open, type Thoughts } from "../envelope.ts";
import { TYPED_CALLS, TYPED_OUTPUTS, TYPED_TOOLS } from "../typed-tools.ts";
import { Conversation } from "./conversation.ts";
import { readContent } from "./parts.ts";
import { type Notes, STORED_PATH } from "./notes.ts";
import { needsState, shown } from "./refusals.ts";
import type { ToolTable } from "./tools.ts";

/** What an item is read with. */
interface Reading {
  readonly conversation: Conversation;
  readonly tools: ToolTable;
  readonly notes: Notes;
  readonly means: FaceMeans;
}

type Reader = (item: JsonObject, path: string, reading: Reading) => void;

/** Items that declare tools: they are read before all others. */
const DECLARING = new Set(["additional_tools", "tool_search_output"]);
/** Items without which the conversation would be another one. */
const NEEDED = new Set([
  "compaction",
  "compaction_summary",
  "compaction_trigger",
  "computer_call",
  "computer_call_output",
  "mcp_approval_request",
  "mcp_approval_response",
]);

/** Declares the tools that arrive within `input`. */
export function declareTools(
  input: JsonValue | undefined,
  tools: ToolTable,
  means: FaceMeans,
): void {
  if (!Array.isArray(input)) return;
  for (const [index, item] of (input as readonly JsonValue[]).entries())
    if (isObject(item) && typeof item.type === "string" && DECLARING.has(item.type))
      tools.declareAll(item.tools, `${pathOf(index, means)}.tools`);
}

/** The client's path of an item. */
function pathOf(index: number, { itemsBefore = 0 }: FaceMeans): string {
  return index < itemsBefore ? STORED_PATH : `input[${index - itemsBefore}]`;
}

/**
 * Reads `input`, with `instructions` before it. Throws `invalid_field` when there is no message.
 */
export function* readInput(
  { input, instructions }: JsonObject,
  tools: ToolTable,
  notes: Notes,
  means: FaceMeans,
): Stages.Of<Conversation> {
  const clock = new Stages.Clock();
  const conversation = new Conversation(notes);
  const say = (role: "system" | "user", text: string): void => {
    if (text !== "") conversation.message(role, readContent(text, "input", notes));
  };
  if (typeof instructions === "string") say("system", instructions);
  else if (instructions !== undefined && instructions !== null)
    throw invalidField("instructions", "a string");
  if (typeof input === "string") say("user", input);
  else if (Array.isArray(input)) {
    const reading: Reading = { conversation, tools, notes, means };
    for (const [index, item] of (input as readonly JsonValue[]).entries()) {
      noteSealed(item, index, reading);
      readItem(item, pathOf(index, means), reading);
      if (clock.isOver()) yield;
    }
  } else if (input !== undefined && input !== null)
    throw invalidField("input", "a string or an array of items");
  yield* conversation.end(clock);
  if (conversation.messages.length === 0 && notes.nativeOnly.length === 0)
    throw invalidField("input", "a text, or items with at least one message");
  return conversation;
}

/** Notes an envelope of the gateway: an upstream of this API gets what is in it. */
function noteSealed(item: JsonValue, index: number, { notes, means }: Reading): void {
  if (!isObject(item) || !isEnvelope(item.encrypted_content)) return;
  const { native, deployment } = open(item.encrypted_content, means) ?? {};
  const isOpen = native !== undefined && deployment !== undefined;
  notes.sealed.push(isOpen ? { index, text: native, deployment } : { index });
}

function readItem(item: JsonValue, path: string, reading: Reading): void {
  if (!isObject(item)) throw invalidField(path, "an object");
  const type = item.type ?? (item.role === undefined ? undefined : "message");
  if (typeof type !== "string") throw invalidField(`${path}.type`, "the type of the item");
  const reader = READERS[type] ?? otherReader(type, path);
  if (reader === undefined) reading.notes.drop(path);
  else reader(item, path, reading);
}

function otherReader(type: string, path: string): Reader | undefined {
  const kind = TYPED_CALLS[type];
  if (kind !== undefined)
    return (item, at, { conversation, tools }) => {
      // A call without an id was run by a server.
      if (item.call_id === null) return;
      const given = TYPED_TOOLS[kind].read(item);
      const text = typeof given === "string" ? given : JSON.stringify(given ?? {});
      conversation.call({ id: idOf(item, at), flat: tools.flat(kind, kind), arguments: text });
    };
  if (TYPED_OUTPUTS.has(type)) return readTypedOutput;
  if (type === "item_reference") throw needsState(path, "a stored item");
  if (NEEDED.has(type))
    return (item, at, { notes }) => {
      notes.native(at, `an item of type ${shown(type)}`);
      notes.items.push(item);
    };
  return undefined;
}

const READERS: Readonly<Record<string, Reader>> = Members.table<Reader>({
  message(item, path, { conversation, notes }) {
    const content = readContent(item.content, `${path}.content`, notes);
    const { role } = item;
    if (role === "assistant") conversation.answer(content);
    else if (role === "user" || role === "system" || role === "developer") {
      if (content.blocks.length > 0) conversation.message(role, content);
    } else throw invalidField(`${path}.role`, "user, assistant, system or developer");
  },
  function_call(item, path, { conversation, tools }) {
    const flat = tools.flat("function", nameOf(item, path), spaceOf(item));
    const given = item.arguments;
    const text = typeof given === "string" ? given : JSON.stringify(given ?? {});
    conversation.call({ id: idOf(item, path), flat, arguments: text });
  },
  custom_tool_call(item, path, { conversation, tools }) {
    const flat = tools.flat("custom", nameOf(item, path), spaceOf(item));
    if (typeof item.input !== "string") throw invalidField(`${path}.input`, "a string");
    const text = JSON.stringify({ input: item.input });
    conversation.call({ id: idOf(item, path), flat, arguments: text });
  },
  function_call_output: readOutput,
  custom_tool_call_output: readOutput,
  reasoning(item, path, { conversation, notes, means }) {
    const thoughts = readThoughts(item, means);
    if (thoughts === undefined) notes.drop(path);
    else conversation.thoughts(thoughts, path);
  },
  // Its tools are declared already.
  additional_tools: () => undefined,
});

function readOutput(item: JsonObject, path: string, { conversation, notes }: Reading): void {
  const { blocks } = readContent(item.output, `${path}.output`, notes);
  conversation.result(idOf(item, path), blocks, path);
}

function readTypedOutput(item: JsonObject, path: string, { conversation }: Reading): void {
  if (item.call_id === null) return;
  const { output, status, tools } = item;
  // The output of a local shell has the id of its call as its own.
  const id = typeof item.call_id === "string" ? item.call_id : idOf({ call_id: item.id }, path);
  const found = Members.objectsOf(tools).flatMap(({ name }) =>
    typeof name === "string" ? [name] : [],
  );
  const text =
    item.type === "tool_search_output"
      ? `Loaded tools: ${found.length === 0 ? "none" : found.join(", ")}.`
      : typeof output === "string"
        ? output
        : JSON.stringify(output ?? { status: status ?? "completed" });
  conversation.result(id, [{ type: "text", text }], path);
}

/**
 * The thoughts of a reasoning item; `undefined` where they are another API's secret, or there are
 * none.
 */
function readThoughts(
  { encrypted_content: sealed, content, summary }: JsonObject,
  means: FaceMeans,
): Thoughts | undefined {
  const opened = sealed === undefined || sealed === null ? undefined : open(sealed, means);
  if (sealed !== undefined && sealed !== null && opened?.native === undefined) return opened;
  const text = [content, summary]
    .map((parts) =>
      Members.objectsOf(parts)
        .flatMap((part) => (typeof part.text === "string" ? [part.text] : []))
        .join("\n\n"),
    )
    .find((each) => each !== "");
  if (opened !== undefined) return { ...opened, text };
  return text === undefined ? undefined : { text, blocks: [], calls: [] };
}

function idOf(item: JsonObject, path: string): string {
  const { call_id: id } = item;
  if (typeof id !== "string" || id === "")
    throw invalidField(`${path}.call_id`, "the id of a call");
  return id;
}

function nameOf({ name }: JsonObject, path: string): string {
  if (typeof name !== "string" || name === "")
    throw invalidField(`${path}.name`, "the name of the tool");
  return name;
}

function spaceOf({ namespace }: JsonObject): string | undefined {
  return Members.textIn(namespace);
}
