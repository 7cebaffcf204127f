/** Streams of OpenAI's Responses API as chunks of the reference dialect. */

import {
  type EventForm,
  GatewayError,
  type JsonObject,
  type ProviderRequest,
  type StreamTranslator,
} from "@sluice/contract";
import { type ChunkWriter, createStreamTranslator } from "../../dialect/chunk-writer.ts";
import { readJsonEvent } from "../../dialect/reply.ts";
import { isObject } from "../../json/narrow.ts";
import { ExactValues } from "../../json/numbers/exact.ts";
import { readNativeUsage } from "../../passthrough/native-usage.ts";
import { readEmbeddedError } from "../errors.ts";
import {
  annotationOf,
  callOf,
  FINISH,
  finishOf,
  isServers,
  logprobsOf,
  nameOf,
  textIn,
} from "./reply.ts";

/** Events of one item differ in their text, their number and a padding of their length. */
const PIECE_FORM: EventForm = {
  texts: [["delta"]],
  others: [["sequence_number"], ["obfuscation"]],
};

/**
 * Events that say nothing which another one does not say, in the form in which the API writes them:
 * whole texts, parts, the response before its end, items of texts. They are not parsed.
 */
const SAYS_NOTHING = new RegExp(
  String.raw`^\{"type":"response\.(?:` +
    String.raw`(?:in_progress|queued|content_part\.(?:added|done)|(?:output_text|refusal)\.done)",` +
    String.raw`|(?:reasoning_summary_text|reasoning_summary_part|reasoning_text)\.done",` +
    String.raw`|(?:function_call_arguments|custom_tool_call_input)\.done",` +
    String.raw`|output_item\.(?:added|done)","sequence_number":\d+,"output_index":\d+,"item":\{"id":"\w*","type":"message",)`,
);
const BEGINS = /^\{"type":"response\.created",/;

/** What a stream has begun. */
interface Progress {
  readonly writer: ChunkWriter;
  /** The open calls, by the ids of their items. */
  readonly calls: Set<string>;
  /** Whether an item of reasoning has begun: the next one is divided from it. */
  hasReasoned: boolean;
}

/** `data`: the text of the event. */
type Handler = (event: JsonObject, progress: Progress, data: string) => void;

/** A translator of one stream. */
export function translateResponses(request: ProviderRequest): StreamTranslator {
  return createStreamTranslator(request, (writer) => {
    const progress: Progress = { writer, calls: new Set(), hasReasoned: false };
    return ({ data }) => {
      // A mark of a proxy: the API ends with an event.
      if (data === "[DONE]" || SAYS_NOTHING.test(data)) return;
      if (BEGINS.test(data)) {
        writer.begin();
        return;
      }
      const event = readJsonEvent(data);
      const handler = HANDLERS.get(event.type);
      if (handler !== undefined) handler(event, progress, data);
      else if (event.type === undefined && isObject(event.error)) throw failureOf(event);
    };
  });
}

const HANDLERS: ReadonlyMap<unknown, Handler> = new Map<string, Handler>([
  ["response.created", (_event, { writer }) => writer.begin()],
  ["response.output_text.delta", say],
  [
    "response.refusal.delta",
    ({ delta }, { writer }) => {
      const refusal = textIn(delta);
      if (refusal !== "") writer.delta({ refusal });
    },
  ],
  [
    "response.output_text.annotation.added",
    ({ annotation }, { writer }) => {
      const annotations = isObject(annotation) ? annotationOf(annotation) : [];
      if (annotations.length > 0) writer.delta({ annotations });
    },
  ],
  ["response.reasoning_summary_part.added", divideReasoning],
  ["response.reasoning_summary_text.delta", reason],
  ["response.reasoning_text.delta", reason],
  ["response.output_item.added", addItem],
  [
    "response.function_call_arguments.delta",
    ({ item_id: id, delta }, { writer, calls }) => {
      if (calls.has(String(id))) writer.callArguments(String(id), textIn(delta), PIECE_FORM);
    },
  ],
  [
    "response.custom_tool_call_input.delta",
    ({ item_id: id, delta }, { writer, calls }) => {
      if (!calls.has(String(id))) return;
      writer.callArguments(String(id), JSON.stringify(textIn(delta)).slice(1, -1));
    },
  ],
  ["response.output_item.done", endItem],
  ["response.completed", finish],
  ["response.incomplete", finish],
  ["response.failed", fail],
  ["response.cancelled", fail],
  ["error", fail],
]);

function say({ delta, logprobs }: JsonObject, { writer }: Progress): void {
  const known = logprobsOf(logprobs);
  writer.text(textIn(delta), known === undefined ? PIECE_FORM : undefined, known);
}

function divideReasoning({ summary_index: index }: JsonObject, { writer }: Progress): void {
  if (typeof index === "number" && index > 0) writer.reasoning("\n\n");
}

function reason({ delta }: JsonObject, { writer }: Progress): void {
  writer.reasoning(textIn(delta));
}

function addItem({ item }: JsonObject, progress: Progress): void {
  if (!isObject(item)) return;
  const { writer, calls } = progress;
  const { type, id, call_id: callId } = item;
  if (type === "reasoning") {
    if (progress.hasReasoned) writer.reasoning("\n\n");
    progress.hasReasoned = true;
    return;
  }
  if (type !== "function_call" && type !== "custom_tool_call") return;
  const key = String(id);
  calls.add(key);
  writer.callStart(key, { id: String(callId), name: nameOf(item) });
  if (type === "custom_tool_call") writer.callArguments(key, '{"input":"');
}

function endItem(event: JsonObject, { writer, calls }: Progress, data: string): void {
  const { item } = event;
  if (!isObject(item)) return;
  const { type, id } = item;
  const key = String(id);
  if (calls.delete(key)) {
    if (type === "custom_tool_call") writer.callArguments(key, '"}');
    writer.callEnd(key);
    return;
  }
  const exact = new ExactValues({ value: event, bytes: data });
  const call = callOf(item, exact);
  if (call !== undefined) writer.call(key, call);
  else if (isServers(item)) writer.delta({ provider_blocks: [exact.of(item)] });
}

function finish(event: JsonObject, { writer }: Progress): void {
  const response = isObject(event.response) ? event.response : {};
  writer.finish(finishOf(response), FINISH);
  writer.usage(readNativeUsage(response));
  writer.done();
}

function fail(event: JsonObject): never {
  throw failureOf(event);
}

/** The error of an event, where the API and layers before it write it. */
function failureOf(event: JsonObject): GatewayError {
  const { response, error } = event;
  const inner = isObject(response) ? response.error : error;
  if (isObject(inner)) return readEmbeddedError(inner);
  // The event `error` has its members at the top.
  return readEmbeddedError({ ...event, type: undefined });
}
