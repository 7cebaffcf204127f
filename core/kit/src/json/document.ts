/**
 * JSON documents that keep their source text: the parsed object for reading, the original bytes for
 * forwarding.
 */

import type { JsonDocument, JsonObject, JsonValue, WholeReply } from "@sluice/contract";
import { findMember, type Member, readMembers } from "./members.ts";
import { MemberTexts } from "./member-texts.ts";
import { writtenPieces } from "./sliced/write.ts";

/** A document read from text. The text is not checked; `value` parses it on first use. */
export function documentOf(text: string, bytes?: Uint8Array): JsonDocument {
  return new TextDocument(text, bytes, undefined);
}

/**
 * A document with its text and the object parsed from that text. `members`: the positions of its
 * members, where they are known.
 */
export function parsedDocument(
  text: string,
  value: JsonObject,
  bytes?: Uint8Array,
  members?: readonly Member[],
): JsonDocument {
  return new TextDocument(text, bytes, value, members);
}

/** A document made from an object. Its text is written on first use. */
export function writtenDocument(value: JsonObject): JsonDocument {
  return new TextDocument(undefined, undefined, value);
}

/**
 * A whole reply with status 200 made from a JSON value, for steps that answer a request themselves.
 */
export function jsonReply(value: JsonValue): WholeReply {
  // An array has no members to change, and no caller edits this kind of reply.
  return { kind: "whole", status: 200, document: writtenDocument(value as JsonObject) };
}

/**
 * The text of a document in pieces, while it has no text: it can be written without joining it.
 * `undefined` for every other document.
 */
export function unwrittenPieces(document: JsonDocument): Iterable<string> | undefined {
  return document instanceof TextDocument ? document.unwritten() : undefined;
}

/** Characters of a text whose members are joined only where the whole is asked for. */
const LARGE_CHARACTERS = 131_072;

class TextDocument implements JsonDocument {
  #text: string | undefined;
  readonly #original: Uint8Array | undefined;
  #value: JsonObject | undefined;
  readonly #members: readonly Member[] | undefined;
  /** In place of the text, for a large one with changes. */
  readonly #texts: MemberTexts | undefined;

  constructor(
    text: string | undefined,
    original: Uint8Array | undefined,
    value: JsonObject | undefined,
    members?: readonly Member[],
    texts?: MemberTexts,
  ) {
    this.#members = members;
    this.#texts = texts;
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
    this.#text ??= this.#texts?.text() ?? JSON.stringify(this.#value);
    return this.#text;
  }

  unwritten(): Iterable<string> | undefined {
    if (this.#text !== undefined || this.#original !== undefined || this.#value === undefined)
      return undefined;
    return this.#texts?.pieces() ?? writtenPieces(this.#value);
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
    if (this.#texts === undefined && this.#text === undefined)
      return new TextDocument(undefined, undefined, changed);
    const texts = this.#texts ?? this.#largeTexts();
    if (texts !== undefined)
      return new TextDocument(undefined, undefined, changed, undefined, texts.with(changes, names));
    const text = this.#text ?? "";
    const edited = editText(text, this.#members ?? readMembers(text).members, changes, names);
    return new TextDocument(edited.text, undefined, changed, edited.members);
  }

  #largeTexts(): MemberTexts | undefined {
    const text = this.#text ?? "";
    return text.length > LARGE_CHARACTERS
      ? MemberTexts.of(text, this.#members ?? readMembers(text).members)
      : undefined;
  }
}

/**
 * Replaces one top-level member of a JSON object's text. Reads only up to that member. Returns the
 * text unchanged when the object has no such member.
 */
export function replaceMember(text: string, key: string, json: string): string {
  const member = findMember(text, key);
  return member === undefined
    ? text
    : text.slice(0, member.valueStart) + json + text.slice(member.end);
}

/**
 * Sets and removes members of an object's text. Every other member keeps its characters. Returns
 * the new positions of the members too.
 */
function editText(
  text: string,
  members: readonly Member[],
  changes: JsonObject,
  names: readonly string[],
): { readonly text: string; readonly members: readonly Member[] } {
  const left = new Set(names);
  const parts: string[] = [];
  const edited: Member[] = [];
  let at = 1;
  const add = (key: string, part: string, toValue: number): void => {
    parts.push(part);
    edited.push({ key, start: at, valueStart: at + toValue, end: at + part.length });
    at += part.length + 1;
  };
  for (const { key, start, valueStart, end } of members) {
    if (!names.includes(key)) {
      add(key, text.slice(start, end), valueStart - start);
    } else if (left.delete(key) && changes[key] !== undefined) {
      add(key, text.slice(start, valueStart) + JSON.stringify(changes[key]), valueStart - start);
    }
  }
  for (const name of left) {
    if (changes[name] === undefined) continue;
    const quoted = `${JSON.stringify(name)}:`;
    add(name, quoted + JSON.stringify(changes[name]), quoted.length);
  }
  return { text: `{${parts.join(",")}}`, members: edited };
}
