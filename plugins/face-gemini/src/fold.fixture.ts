/** The whole reply of a stream, as clients of the API put it together. */

import type { JsonObject, JsonValue } from "@sluice/contract";
import { isObject } from "@sluice/kit";
import { Members } from "@sluice/kit/dialect";

/** The data of the events of a text. Throws for a text that is not a sequence of events. */
export function dataOf(text: string): readonly string[] {
  const events = text.split(/\r?\n\r?\n/);
  if (events.at(-1) !== "") throw new Error(`The text ends within an event: ${events.at(-1)}`);
  return events.flatMap((event) => {
    if (event.trim() === "") return [];
    if (!event.startsWith("data: ")) throw new Error(`An event has no data: ${event}`);
    return [event.slice(6)];
  });
}

/**
 * The events of a text for the contract suite. The last may be an error alone, which ends a failed
 * stream.
 */
export function eventsOf(text: string): readonly { readonly data: string }[] {
  const end = text.lastIndexOf("\r\n\r\n") + 4;
  const rest = end < 4 ? text : text.slice(end);
  const whole = dataOf(text.slice(0, text.length - rest.length) || "\n\n");
  if (rest === "") return whole.map((data) => ({ data }));
  if (!rest.startsWith('{"error":')) throw new Error(`The text ends within an event: ${rest}`);
  return [...whole, rest].map((data) => ({ data }));
}

/** A whole reply in the order of parts of a folded one. */
export function comparable(reply: JsonObject): JsonObject {
  return foldedEvents([reply]);
}

/** The reply of all events: texts and thoughts joined, everything else in its order. */
export function folded(text: string): JsonObject {
  return foldedEvents(dataOf(text).map((data) => JSON.parse(data) as JsonObject));
}

export function foldedEvents(events: readonly JsonObject[]): JsonObject {
  const candidates: JsonObject[] = [];
  let reply: JsonObject = {};
  for (const { candidates: given, ...rest } of events) {
    reply = { ...reply, ...rest };
    for (const { content, ...more } of Members.objectsOf(given)) {
      const index = typeof more.index === "number" ? more.index : 0;
      const before = candidates[index] ?? { content: { parts: [], role: "model" } };
      const parts = [...partsOf(before.content), ...partsOf(content)];
      candidates[index] = { ...before, ...more, content: { parts: joined(parts), role: "model" } };
    }
  }
  return { candidates, ...reply };
}

function partsOf(content: JsonValue | undefined): readonly JsonObject[] {
  return isObject(content) ? Members.objectsOf(content.parts) : [];
}

function joined(parts: readonly JsonObject[]): readonly JsonObject[] {
  const texts = parts.filter(({ text }) => typeof text === "string");
  const others = parts.filter(({ text }) => typeof text !== "string");
  const thoughts = texts.filter(({ thought }) => thought === true);
  const said = texts.filter(({ thought }) => thought !== true);
  const all = [...oneOf(thoughts), ...oneOf(said), ...others];
  const isEmpty = (part: JsonObject): boolean => part.text === "" && Object.keys(part).length === 1;
  const full = all.filter((part) => !isEmpty(part));
  return full.length === 0 ? all.slice(0, 1) : full;
}

function oneOf(parts: readonly JsonObject[]): readonly JsonObject[] {
  const text = parts.map((part) => String(part.text)).join("");
  return parts.length === 0 ? [] : [{ ...Object.assign({}, ...parts), text } as JsonObject];
}
