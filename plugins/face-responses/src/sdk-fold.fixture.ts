/** Folds the text of a stream with the OpenAI SDK, and checks what each event repeats. */

import { deepStrictEqual, strictEqual } from "node:assert";
import OpenAI from "openai";
import { accumulateResponse } from "openai/lib/responses/ResponseAccumulator";
import type { Response, ResponseStreamEvent } from "openai/resources/responses/responses";
import type { WireEvent } from "@sluice/testing";
import type { JsonObject } from "@sluice/contract";

const ENDS = new Set(["response.completed", "response.incomplete", "response.failed"]);
const STARTS = ["response.created", "response.in_progress"];

/**
 * The response of a stream, as `client.responses.stream()` returns it. Throws for what the SDK or
 * this API does not allow.
 */
export async function foldWithSdk(events: readonly WireEvent[], text: string): Promise<JsonObject> {
  const list = events.map(({ event, data }) => checkedEvent(event, data));
  list.forEach((event, at) => strictEqual(event.sequence_number, at, "sequence_number"));
  const types = list.map(({ type }) => type);
  deepStrictEqual(types.slice(0, 2), STARTS);
  strictEqual(types.filter((type) => ENDS.has(type)).length, 1, "one event ends the stream");
  strictEqual(ENDS.has(types.at(-1) ?? ""), true, "the last event ends the stream");
  const final = repeated(list);
  const folded = bare(await streamed(text));
  deepStrictEqual(folded, bare(final));
  return folded;
}

type SdkEvent = ResponseStreamEvent & { readonly sequence_number: number };

function checkedEvent(name: string | undefined, data: string): SdkEvent {
  const event = JSON.parse(data) as SdkEvent & { readonly error?: unknown };
  strictEqual(event.type, name, "the name of the event is its type");
  strictEqual(event.error, undefined, "an event with an error ends the client");
  return event;
}

/** Applies each event. What a `done` repeats is what the deltas before it said. */
function repeated(events: readonly SdkEvent[]): Response {
  let snapshot: Response | undefined;
  for (const event of events) {
    const before = structuredClone(snapshot);
    snapshot = accumulateResponse(structuredClone(event), snapshot);
    if (before === undefined) continue;
    if (event.type === "response.output_item.done")
      sameItem(before.output[event.output_index], event.item);
    else if (event.type.endsWith(".done")) deepStrictEqual(snapshot, before, event.type);
    else if (event.type === "response.completed" || event.type === "response.incomplete")
      deepStrictEqual(event.response.output, before.output, "the output of the end");
  }
  if (snapshot === undefined) throw new Error("The stream has no event.");
  return snapshot;
}

/** Members of an item that no delta holds. */
const LATE = new Set([
  "status",
  "encrypted_content",
  "action",
  "arguments",
  "operation",
  "environment",
  "execution",
  "result",
]);

function sameItem(before: unknown, done: unknown): void {
  const isCall = (done as { readonly type: string }).type === "function_call";
  const compared = (item: unknown): unknown =>
    Object.fromEntries(
      Object.entries(item as object).filter(
        ([name]) => !LATE.has(name) || (isCall && name === "arguments"),
      ),
    );
  deepStrictEqual(compared(done), compared(before), "response.output_item.done");
}

async function streamed(text: string): Promise<Response> {
  const headers = { "content-type": "text/event-stream" };
  const client = new OpenAI({
    apiKey: "sk-example",
    baseURL: "http://127.0.0.1/v1",
    maxRetries: 0,
    fetch: async () => new globalThis.Response(text, { headers }),
  });
  return client.responses.stream({ model: "contract/model", input: "Hi" }).finalResponse();
}

/** The response without what the SDK adds. */
function bare(response: Response): JsonObject {
  const added = new Set(["output_text", "output_parsed", "parsed", "parsed_arguments"]);
  return JSON.parse(
    JSON.stringify(response, (name, value: unknown) => (added.has(name) ? undefined : value)),
  ) as JsonObject;
}
