/** Entries of stored responses: the response, and the items that it was made of. */

import { isObject } from "@sluice/kit";
import { Members } from "@sluice/kit/dialect";
import type { JsonDocument, JsonObject, JsonValue, KeptPointer, KeptReply } from "@sluice/contract";
import { inputItemId, isResponseId, isUpstreamItemId } from "./ids.ts";

/** A stored response. */
export interface StoredResponse {
  readonly response: JsonObject;
  /** All items of the conversation before the output, each with an id. */
  readonly input: readonly JsonObject[];
  /** Whether its events can be read. */
  readonly hasEvents: boolean;
}

/** Responses with another status are not stored: their output is not whole. */
const STORED: ReadonlySet<unknown> = new Set(["completed", "incomplete"]);
/** A response in the background is stored before its first call. */
const BEGUN = "queued";

const PREFIXES: Readonly<Record<string, string>> = Members.table({
  message: "msg",
  function_call: "fc",
  function_call_output: "fco",
  custom_tool_call: "ctc",
  custom_tool_call_output: "ctco",
  reasoning: "rs",
});

/** The entry of a response. `document`: the request, without references. */
export function entryOf({ value }: JsonDocument, reply: JsonObject): KeptReply | undefined {
  const { id, status } = reply;
  const isBegun = status === BEGUN && reply.background === true;
  if (!isResponseId(id) || !(isBegun || STORED.has(status))) return undefined;
  const response = { ...reply, store: true };
  const hasEvents = reply.background === true && value.stream === true;
  const used = new Set<string>();
  const input = itemsOf(value.input).map((item, index) => withId(item, id, index, used));
  const pointers = pointersTo(id, response);
  return {
    id,
    entry: {
      version: 1,
      // A client that reads it comes after the call has begun.
      response: isBegun ? { ...response, status: "in_progress" } : response,
      input,
      ...(hasEvents ? { events: true } : {}),
    },
    reply: response,
    ...(pointers.length === 0 ? {} : { pointers }),
  };
}

/** The maximum of items of one response that clients refer to by an id of the upstream. */
const MAX_POINTERS = 64;

/** Entries of the items whose ids do not name the response. */
function pointersTo(id: string, { output }: JsonObject): readonly KeptPointer[] {
  return Members.objectsOf(output)
    .flatMap((item) => (isUpstreamItemId(item.id) ? [item.id] : []))
    .slice(-MAX_POINTERS)
    .map((itemId) => ({ id: itemId, entry: { version: 1, of: id } }));
}

/** The response that an entry of an item leads to. */
export function pointedAt(entry: JsonObject | undefined): string | undefined {
  return entry?.version === 1 && isResponseId(entry.of) ? entry.of : undefined;
}

/** Reads an entry; `undefined` for one of another version. */
export function readEntry(entry: JsonObject | undefined): StoredResponse | undefined {
  if (entry?.version !== 1 || !isObject(entry.response)) return undefined;
  const { response, input, events } = entry;
  return { response, input: Members.objectsOf(input), hasEvents: events === true };
}

/** Whether a response has its whole output: a later request may refer to it. */
export function isWhole({ response: { status } }: StoredResponse): boolean {
  return STORED.has(status);
}

/** The items of a conversation up to the end of a stored response. */
export function historyOf({ response, input }: StoredResponse): readonly JsonObject[] {
  return [...input, ...Members.objectsOf(response.output)];
}

/** `input` as items. */
export function itemsOf(input: JsonValue | undefined): readonly JsonObject[] {
  return typeof input === "string"
    ? [{ type: "message", role: "user", content: input }]
    : Members.objectsOf(input);
}

/** The item with an id that no other one has: pages of items go by ids. */
function withId(
  item: JsonObject,
  responseId: string,
  index: number,
  used: Set<string>,
): JsonObject {
  const type = typeof item.type === "string" ? item.type : "message";
  const own = typeof item.id === "string" && item.id !== "" && !used.has(item.id) ? item.id : null;
  const id = own ?? inputItemId(responseId, PREFIXES[type] ?? "item", index);
  used.add(id);
  if (type !== "message") return { ...item, id };
  return { status: "completed", ...item, id, type, content: partsOf(item) };
}

/** The content of a message as a list of parts. */
function partsOf({ role, content }: JsonObject): JsonValue {
  if (typeof content !== "string") return content ?? [];
  return role === "assistant"
    ? [{ type: "output_text", text: content, annotations: [] }]
    : [{ type: "input_text", text: content }];
}
