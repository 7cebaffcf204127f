/** Native event streams as frames, so that guards of frames can check them. */

import { type Frame, GatewayError, type JsonObject } from "@sluice/contract";
import { createEventReader } from "@sluice/kit/internals";
import { isObject, parseJson } from "@sluice/kit";

/**
 * An event of a native stream. `chunk` throws `upstream_invalid_response` for an event that is
 * neither a JSON object nor an end mark.
 */
export interface NativeFrame extends Frame {
  readonly event: string | undefined;
  readonly raw: string;
}

/** A frame with an event's name and data. */
export function nativeFrame(event: string | undefined, raw: string): NativeFrame {
  let parsed: JsonObject | undefined;
  return { event, raw, chunk: () => (parsed ??= parse(raw)) };
}

/** The events of a body's bytes. A reader that stops early ends the body. */
export async function* readNativeEvents(
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<NativeFrame, void, undefined> {
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

/** The wire form of an event. */
export function writeNativeEvent({ event, raw }: NativeFrame): Uint8Array {
  const name = event === undefined ? "" : `event: ${event}\n`;
  return Buffer.from(`${name}data: ${raw.replaceAll("\n", "\ndata: ")}\n\n`, "utf8");
}

/** End marks of streams, in place of an event. */
const END_MARKS = new Set(["", "[DONE]"]);

function parse(raw: string): JsonObject {
  if (END_MARKS.has(raw.trim())) return {};
  let value: unknown;
  try {
    value = parseJson(raw);
  } catch {
    value = undefined;
  }
  if (isObject(value)) return value;
  throw new GatewayError(
    "upstream_invalid_response",
    "The upstream's stream has an event that is not a JSON object.",
  );
}
