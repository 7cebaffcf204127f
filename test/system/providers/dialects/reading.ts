/**
 * Reads native requests strictly: a missing value, or one of another type, is reported with its
 * place.
 */

import { isObject } from "@sluice/kit";
import type { JsonObject, JsonValue } from "@sluice/contract";
import { Misread, type Turn } from "./model.ts";

type Value = JsonValue | undefined;

export function objectAt(value: Value, place: string): JsonObject {
  if (!isObject(value)) throw new Misread(`${place} is no object: ${JSON.stringify(value)}`);
  return value;
}

/** A list of objects. */
export function listAt(value: Value, place: string): readonly JsonObject[] {
  if (!Array.isArray(value)) throw new Misread(`${place} is no list: ${JSON.stringify(value)}`);
  return value.map((each: JsonValue, index) => objectAt(each, `${place}[${index}]`));
}

export function textAt(value: Value, place: string): string {
  if (typeof value !== "string") throw new Misread(`${place} is no text: ${JSON.stringify(value)}`);
  return value;
}

/** Arguments of a call that a dialect has as JSON in a text. */
export function jsonAt(value: Value, place: string): JsonObject {
  return objectAt(JSON.parse(textAt(value, place)) as JsonValue, place);
}

/** The bytes of an image, which must be a PNG. */
export function imageOf(type: Value, data: Value, place: string): Buffer {
  if (type !== "image/png" && type !== "png")
    throw new Misread(`${place} is no PNG: ${JSON.stringify(type)}`);
  return Buffer.from(textAt(data, place), "base64");
}

/** The bytes of an image in a `data:` URL. */
export function imageOfUrl(value: Value, place: string): Buffer {
  const [, type, data] = /^data:([^;]+);base64,(.+)$/.exec(textAt(value, place)) ?? [];
  return imageOf(type, data, place);
}

/** Refuses members that the dialect does not know, as strict APIs do. */
export function knownMembers(value: JsonObject, names: readonly string[], place: string): void {
  const odd = Object.keys(value).find((name) => !names.includes(name));
  if (odd !== undefined)
    throw new Misread(`${place} has a member ${odd} that the dialect does not know.`);
}

/** Collects turns: what one side says in several messages is one turn. */
export function turnOf(turns: Turn[], role: Turn["role"]): Turn {
  const last = turns.at(-1);
  if (last?.role === role) return last;
  const turn: Turn = { role, texts: [], images: [], calls: [], results: [] };
  turns.push(turn);
  return turn;
}

/** A text in pieces of a few characters, as models stream it. */
export function pieces(text: string): string[] {
  return Array.from(text).reduce<string[]>((made, character, index) => {
    if (index % 5 === 0) made.push(character);
    else made[made.length - 1] += character;
    return made;
  }, []);
}

/** Server-sent events. Events that are named say their type before their data. */
export function eventStream(events: readonly JsonValue[], isNamed = false): Buffer {
  const text = events.map((event) => {
    const name =
      isNamed && isObject(event) && typeof event.type === "string" ? `event: ${event.type}\n` : "";
    return `${name}data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`;
  });
  return Buffer.from(text.join(""));
}
