/** Reads the text of a stream as strictly as a face must write it. */

import type { JsonValue } from "@sluice/contract";
import { must } from "../contract/fault.ts";

/** One event. */
export interface WireEvent {
  /** The value of its `event:` line. */
  readonly event?: string;
  /** The value of its `data:` lines. */
  readonly data: string;
}

/**
 * The events of a text; comments are left out. Throws `ContractFault` for a text that is not a
 * sequence of complete events: each one of the lines `event:`, `data:`, `id:` and `retry:` with a
 * space after the colon, and an empty line at its end (WHATWG HTML 9.2.6).
 */
export function readWireEvents(text: string): WireEvent[] {
  if (text === "") return [];
  must(text.endsWith("\n\n"), `The text ends within an event: …${text.slice(-120)}`);
  must(!text.includes("\r"), "The text has a carriage return.");
  return text
    .slice(0, -2)
    .split("\n\n")
    .flatMap((block) => readEvent(block) ?? []);
}

function readEvent(block: string): WireEvent | undefined {
  let event: string | undefined;
  const data: string[] = [];
  const lines = block.split("\n").filter((line) => !line.startsWith(":"));
  for (const line of lines) {
    const [, name, value = ""] = /^(event|data|id|retry): (.*)$/s.exec(line) ?? [];
    must(name !== undefined, `A line of an event is of no known field: ${line.slice(0, 120)}`);
    if (name === "data") data.push(value);
    if (name !== "event") continue;
    must(event === undefined, `An event has two names: ${block.slice(0, 120)}`);
    event = value;
  }
  if (lines.length === 0) return undefined;
  must(data.length > 0, `An event has no data, so no client sees it: ${block.slice(0, 120)}`);
  return { ...(event === undefined ? {} : { event }), data: data.join("\n") };
}

/** The events of a text, by the reader of the face's dialect. */
export function eventsOf(
  { readEvents }: { readEvents?(text: string): readonly WireEvent[] },
  text: string,
): readonly WireEvent[] {
  return readEvents === undefined ? readWireEvents(text) : readEvents(text);
}

/** Events as data that a case can expect: `[name or null, data]`, JSON where it is JSON. */
export function shownEvents(events: readonly WireEvent[]): JsonValue {
  return events.map(({ event, data }): JsonValue => [event ?? null, shownData(data)]);
}

function shownData(data: string): JsonValue {
  try {
    return JSON.parse(data) as JsonValue;
  } catch {
    return data;
  }
}
