/**
 * Writes a large JSON value in pieces of about 64 KiB, as `JSON.stringify` writes it. See
 * core/decisions/2026-11-28-written-in-slices.md.
 */

import type { JsonObject, JsonValue } from "@sluice/contract";
import { textPieces } from "../../text-pieces.ts";
import { isRawNumber } from "../numbers/raw.ts";
import { lessLength } from "./length.ts";
import { PIECE_CHARACTERS } from "./text.ts";

/** The text of a value in pieces. A piece ends between two characters, never within one. */
export function* writtenPieces(value: JsonValue): Generator<string, void, undefined> {
  const writer = new SlicedWriter();
  yield* writer.value(value);
  yield writer.take();
}

/** Writes small values together, and goes into larger ones. */
class SlicedWriter {
  #text = "";

  /** The text since the last piece. */
  take(): string {
    const text = this.#text;
    this.#text = "";
    return text;
  }

  *value(value: JsonValue): Generator<string, void, undefined> {
    if (!isLongerThan(value, PIECE_CHARACTERS)) this.#text += JSON.stringify(value);
    else if (typeof value === "string") yield* this.#string(value);
    else if (Array.isArray(value)) yield* this.#list(value as readonly JsonValue[]);
    else if (isRawNumber(value)) this.#text += JSON.stringify(value);
    else yield* this.#object(value as JsonObject);
    if (this.#text.length > PIECE_CHARACTERS) yield this.take();
  }

  *#string(text: string): Generator<string, void, undefined> {
    this.#text += '"';
    for (const part of textPieces(text, PIECE_CHARACTERS)) {
      this.#text += JSON.stringify(part).slice(1, -1);
      yield this.take();
    }
    this.#text += '"';
  }

  *#object(object: JsonObject): Generator<string, void, undefined> {
    let mark = "{";
    for (const name of Object.keys(object)) {
      const member = object[name];
      if (member === undefined) continue;
      this.#text += `${mark}${JSON.stringify(name)}:`;
      mark = ",";
      yield* this.value(member);
    }
    this.#text += mark === "{" ? "{}" : "}";
  }

  /** Small items are written in groups: one call for about a piece. */
  *#list(items: readonly JsonValue[]): Generator<string, void, undefined> {
    this.#text += "[";
    let from = 0;
    let left = PIECE_CHARACTERS;
    for (let at = 0; at < items.length; at += 1) {
      const rest = lessLength(items[at], left);
      if (rest >= 0) {
        left = rest;
        continue;
      }
      this.#group(items, from, at);
      yield this.take();
      if (at > 0) this.#text += ",";
      yield* this.value(items[at] ?? null);
      from = at + 1;
      left = PIECE_CHARACTERS;
    }
    this.#group(items, from, items.length);
    this.#text += "]";
  }

  #group(items: readonly JsonValue[], from: number, to: number): void {
    if (from === to) return;
    if (from > 0) this.#text += ",";
    this.#text += JSON.stringify(items.slice(from, to)).slice(1, -1);
  }
}

/** Whether a value's text has more than about `characters`. */
export function isLongerThan(value: JsonValue, characters: number): boolean {
  return lessLength(value, characters) < 0;
}
