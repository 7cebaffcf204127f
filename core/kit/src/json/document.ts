/** JSON documents that remember their text: the parsed object for reading, the original bytes for forwarding. */

import type { JsonDocument, JsonObject, JsonValue, WholeReply } from "@sluice/spec";
import { findMember, readMembers } from "./members.ts";

/** A document read from text. Returns it without looking into the text; `value` parses on first use. */
export function documentOf(text: string, bytes?: Uint8Array): JsonDocument {
  return new TextDocument(text, bytes, undefined);
}

/** A document whose object is already parsed from that text. */
export function parsedDocument(text: string, value: JsonObject, bytes?: Uint8Array): JsonDocument {
  return new TextDocument(text, bytes, value);
}

/** A document made from an object; its text is written on first use. */
export function writtenDocument(value: JsonObject): JsonDocument {
  return new TextDocument(undefined, undefined, value);
}

/** A whole reply with status 200 made from a JSON value, for steps that answer by themselves. */
export function jsonReply(value: JsonValue): WholeReply {
  // An array has no members to change; nobody asks a reply of this kind for them.
  return { kind: "whole", status: 200, document: writtenDocument(value as JsonObject) };
}

class TextDocument implements JsonDocument {
  #text: string | undefined;
  readonly #original: Uint8Array | undefined;
  #value: JsonObject | undefined;

  constructor(text: string | undefined, original: Uint8Array | undefined, value: JsonObject | undefined) {
    this.#text = text;
    this.#original = original;
    this.#value = value;
  }

  get value(): JsonObject {
    this.#value ??= JSON.parse(this.#text ?? "{}") as JsonObject;
    return this.#value;
  }

  get bytes(): Uint8Array | string {
    if (this.#original !== undefined) return this.#original;
    this.#text ??= JSON.stringify(this.#value);
    return this.#text;
  }

  with(changes: JsonObject): JsonDocument {
    const value = this.value;
    const names = Object.keys(changes).filter((name) => changes[name] !== value[name]);
    if (names.length === 0) return this;
    const changed: Record<string, JsonObject[string]> = { ...value };
    for (const name of names) {
      const to = changes[name];
      if (to === undefined) delete changed[name];
      else changed[name] = to;
    }
    if (this.#text === undefined) return new TextDocument(undefined, undefined, changed);
    return new TextDocument(editText(this.#text, changes, names), undefined, changed);
  }
}

/**
 * Replaces one top-level member of a JSON object's text, reading no further than that member. Returns the text as it is
 * when the object has no such member.
 */
export function replaceMember(text: string, key: string, json: string): string {
  const member = findMember(text, key);
  return member === undefined ? text : text.slice(0, member.valueStart) + json + text.slice(member.end);
}

/** Sets and removes members of an object's text. Every other member keeps its characters. */
function editText(text: string, changes: JsonObject, names: readonly string[]): string {
  const left = new Set(names);
  const parts: string[] = [];
  for (const member of readMembers(text).members) {
    if (!names.includes(member.key)) {
      parts.push(text.slice(member.start, member.end));
    } else if (left.delete(member.key) && changes[member.key] !== undefined) {
      parts.push(text.slice(member.start, member.valueStart) + JSON.stringify(changes[member.key]));
    }
  }
  for (const name of left) {
    if (changes[name] !== undefined) parts.push(`${JSON.stringify(name)}:${JSON.stringify(changes[name])}`);
  }
  return `{${parts.join(",")}}`;
}
