/**
 * JSON documents that keep their source text: the parsed object for reading, the original bytes for
 * forwarding.
 */

import type { JsonDocument, JsonObject, JsonValue, WholeReply } from "@sluice/contract";
import { findMember, type Member, readMembers } from "./members.ts";
import { MemberTexts } from "./member-texts.ts";
import type { PagedText } from "./paged-text.ts";
import { parseJson, putMember } from "./parse.ts";
import { textOf } from "./prepared.ts";
import { isLongerThan, writtenPieces } from "./sliced/write.ts";

/** A document read from text. The text is not checked; `value` parses it on first use. */
export function documentOf(text: string, bytes?: Uint8Array): JsonDocument {
  return new TextDocument(text, bytes, undefined);
}

/**
 * A document with its text and the object parsed from that text. `members`: the positions of its
 * members, where they are known.
 */
export function parsedDocument(
  text: string | PagedText,
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
 * `undefined` for every other document, and for one of about `characters` at most.
 */
export function unwrittenPieces(
  document: JsonDocument,
  characters = 0,
): Iterable<string> | undefined {
  return document instanceof TextDocument ? document.unwritten(characters) : undefined;
}

/**
 * A document with members set, which its text has as `written` has them: with numbers that no
 * double holds.
 */
export function withWritten(
  document: JsonDocument,
  changes: JsonObject,
  written: JsonObject,
): JsonDocument {
  if (document instanceof TextDocument) return document.with(changes, written);
  const { bytes } = document.with(written);
  return documentOf(typeof bytes === "string" ? bytes : textOf(bytes));
}

class TextDocument implements JsonDocument {
  #text: string | PagedText | undefined;
  readonly #original: Uint8Array | undefined;
  #value: JsonObject | undefined;
  readonly #members: readonly Member[] | undefined;
  /** In place of the text, after changes: they are joined where the whole is asked for. */
  readonly #texts: MemberTexts | undefined;

  constructor(
    text: string | PagedText | undefined,
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
    this.#value ??= parseJson(wholeOf(this.#text ?? "{}")) as JsonObject;
    return this.#value;
  }

  get bytes(): Uint8Array | string {
    if (this.#original !== undefined) return this.#original;
    this.#text = wholeOf(this.#text ?? this.#texts?.text() ?? JSON.stringify(this.#value));
    return this.#text;
  }

  unwritten(characters: number): Iterable<string> | undefined {
    if (this.#text !== undefined || this.#original !== undefined || this.#value === undefined)
      return undefined;
    const isLonger = this.#texts?.isLonger(characters) ?? isLongerThan(this.#value, characters);
    if (!isLonger) return undefined;
    return this.#texts?.pieces() ?? writtenPieces(this.#value);
  }

  with(changes: JsonObject, written = changes): JsonDocument {
    const value = this.value;
    const names = Object.keys(changes).filter((name) => changes[name] !== value[name]);
    if (names.length === 0) return this;
    const changed: Record<string, JsonObject[string]> = { ...value };
    for (const name of names) {
      const to = changes[name];
      if (to === undefined) delete changed[name];
      else putMember(changed, name, to);
    }
    const texts = this.#memberTexts()?.with(written, names);
    return new TextDocument(undefined, undefined, changed, undefined, texts);
  }

  /** `undefined` for a document that has no text. */
  #memberTexts(): MemberTexts | undefined {
    if (this.#texts !== undefined || this.#text === undefined) return this.#texts;
    const text = this.#text;
    return MemberTexts.of(text, this.#members ?? readMembers(wholeOf(text)).members);
  }
}

function wholeOf(text: string | PagedText): string {
  return typeof text === "string" ? text : text.slice(0, text.length);
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
