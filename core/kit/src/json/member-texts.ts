/** The texts of an object's members, one for each: a text is edited without joining it. */

import type { JsonObject, JsonValue } from "@sluice/contract";
import type { Member } from "./members.ts";
import type { PagedText } from "./paged-text.ts";
import { textPieces } from "../text-pieces.ts";
import { PIECE_CHARACTERS } from "./sliced/text.ts";
import { isLongerThan, writtenPieces } from "./sliced/write.ts";

interface MemberText {
  readonly key: string;
  /** The name with its colon, and the value where `value` and `pages` are absent. */
  readonly text: string;
  /** The length of the name with its colon. */
  readonly toValue: number;
  /** The value of a text in pages. */
  readonly pages?: readonly string[];
  /** A changed value, which is not written yet. */
  readonly value?: JsonValue;
}

/** The members of one object, in their order. */
export class MemberTexts {
  readonly #members: readonly MemberText[];

  private constructor(members: readonly MemberText[]) {
    this.#members = members;
  }

  /** Those of a text whose members stand at these offsets. */
  static of(text: string | PagedText, members: readonly Member[]): MemberTexts {
    if (typeof text !== "string")
      return new MemberTexts(
        members.map(({ key, start, valueStart, end }) => ({
          key,
          text: text.slice(start, valueStart),
          toValue: valueStart - start,
          pages: [...text.pieces(valueStart, end)],
        })),
      );
    return new MemberTexts(
      members.map(({ key, start, valueStart, end }) => ({
        key,
        text: text.slice(start, end),
        toValue: valueStart - start,
      })),
    );
  }

  /** These with members set and removed. Every other member keeps its characters. */
  with(changes: JsonObject, names: readonly string[]): MemberTexts {
    const changed = new Set(names);
    const left = new Set(names);
    const members: MemberText[] = [];
    const set = (key: string, name: string): void => {
      const value = changes[key];
      if (value !== undefined) members.push({ key, text: name, toValue: name.length, value });
    };
    for (const member of this.#members) {
      const { key, text, toValue } = member;
      if (!changed.has(key)) members.push(member);
      else if (left.delete(key)) set(key, text.slice(0, toValue));
    }
    for (const name of left) set(name, `${JSON.stringify(name)}:`);
    return new MemberTexts(members);
  }

  /** Whether the object's text has more than about `characters`. */
  isLonger(characters: number): boolean {
    let left = characters;
    for (const { text, pages = [], value } of this.#members) {
      left -= text.length + pages.reduce((sum, { length }) => sum + length, 0);
      if (left < 0 || (value !== undefined && isLongerThan(value, left))) return true;
    }
    return false;
  }

  /** The object's text. */
  text(): string {
    return `{${this.#members
      .map(({ text, pages, value }) => {
        if (pages !== undefined) return text + pages.join("");
        return value === undefined ? text : text + JSON.stringify(value);
      })
      .join(",")}}`;
  }

  /** The same in pieces. */
  *pieces(): Generator<string, void, undefined> {
    let mark = "{";
    for (const { text, pages = [], value } of this.#members) {
      yield mark;
      mark = ",";
      yield* textPieces(text, PIECE_CHARACTERS);
      for (const page of pages) yield* textPieces(page, PIECE_CHARACTERS);
      if (value !== undefined) yield* writtenPieces(value);
    }
    yield mark === "{" ? "{}" : "}";
  }
}
