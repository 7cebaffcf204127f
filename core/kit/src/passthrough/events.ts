/** Native event streams as frames, so that what judges frames can judge them. */

import { type Frame, GatewayError, type JsonObject } from "@sluice/spec";
import { createEventReader } from "../stream/events.ts";
import { isObject } from "../json/narrow.ts";

/** An event of a native stream. `chunk` throws `upstream_invalid_response` for one that is neither a JSON object nor an end mark. */
export interface NativeFrame extends Frame {
  readonly event: string | undefined;
  readonly raw: string;
}

/** A frame of an event's name and data. */
export function nativeFrame(event: string | undefined, raw: string): NativeFrame {
  let parsed: JsonObject | undefined;
  return { event, raw, chunk: () => (parsed ??= parse(raw)) };
}

/** The events of a body's bytes. Whoever stops reading early ends the body. */
export async function* readNativeEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<NativeFrame, void, undefined> {
  let ready: NativeFrame[] = [];
  const reader = createEventReader(({ event, data }) => ready.push(nativeFrame(event, data)));
  for await (const chunk of body) {
    reader.push(chunk);
    if (ready.length === 0) continue;
    const frames = ready;
    ready = [];
    yield* frames;
  }
  reader.end();
  yield* ready;
}

/** An event as it goes over the wire. */
export function writeNativeEvent({ event, raw }: NativeFrame): Uint8Array {
  const name = event === undefined ? "" : `event: ${event}\n`;
  return Buffer.from(`${name}data: ${raw.replaceAll("\n", "\ndata: ")}\n\n`, "utf8");
}

/** What some streams end with in place of an event. */
const END_MARKS = new Set(["", "[DONE]"]);

function parse(raw: string): JsonObject {
  if (END_MARKS.has(raw.trim())) return {};
  let value: unknown;
  try {
    value = JSON.parse(raw);
  } catch {
    value = undefined;
  }
  if (isObject(value)) return value;
  throw new GatewayError("upstream_invalid_response", "The upstream's stream has an event that is no JSON object.");
}
