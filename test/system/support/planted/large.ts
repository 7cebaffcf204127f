/**
 * The large form of a request: above the bound from which the gateway reads, judges and writes in
 * slices, with the planted word near the borders of its pieces.
 */

import { PLANTED } from "./places.ts";
import { type Chance, WORDS } from "./requests.ts";

/** A larger body is handled in slices, in bytes. */
const LARGE_BYTES = 131_072;
/** Pieces of the parser and the writer, and slices of the guardrails, in characters. */
const PIECES = [65_536, 16_384] as const;
/** Texts that fill: of one byte, of two and four, of escapes. */
const FILLERS = ["some words. ", "\u00e9t\u00e9 \u{1f600} ", '"\\\n\t'] as const;

/** The text of a body in its large form. Some of it is escaped, or stands twice. */
export function largeText(body: object, chance: Chance): string {
  const long = withLongText(structuredClone(body), chance);
  const text = chance.of([escaped, repeated, wide])(long, chance);
  const missing = Math.max(0, LARGE_BYTES + 1 - Buffer.byteLength(text));
  const toWord = text.indexOf(PLANTED);
  if (toWord < 0) return `{${" ".repeat(missing)}${text.slice(1)}`;
  // The word stands over the end of a piece, or beside it.
  const piece = chance.of(PIECES);
  const end = Math.ceil((toWord + missing) / piece) * piece;
  const before = Math.max(missing, end - toWord - chance.below(PLANTED.length + 2));
  return `{${" ".repeat(before)}${text.slice(1)}`;
}

/** The body with one of its ordinary texts, or the one with the word, in a long text. */
function withLongText(body: object, chance: Chance): object {
  const places: [owner: Record<string, unknown>, name: string, text: string][] = [];
  collect(body as Record<string, unknown>, places);
  if (places.length === 0 || chance.below(4) === 0) return body;
  const [owner, name, text] = chance.of(places);
  const filler = chance.of(FILLERS);
  const characters = chance.of([1, 4, 9]) * 16_384 - chance.below(PLANTED.length + 2);
  const before = filler.repeat(Math.ceil(characters / filler.length)).slice(0, characters);
  owner[name] = `${before.toWellFormed()}${text}${filler.repeat(chance.below(3_000))}`;
  return body;
}

function collect(
  owner: Record<string, unknown>,
  places: [Record<string, unknown>, string, string][],
): void {
  for (const [name, member] of Object.entries(owner)) {
    if (typeof member === "object" && member !== null)
      collect(member as Record<string, unknown>, places);
    else if (typeof member === "string" && isLongable(name, member))
      places.push([owner, name, member]);
  }
}

/** A model, and what looks like media, is no text that may be long. */
function isLongable(name: string, text: string): boolean {
  return (
    (WORDS as readonly string[]).includes(text) ||
    (name !== "model" && / /.test(text) && text.includes(PLANTED))
  );
}

/** The word in escapes. */
function escaped(body: object, chance: Chance): string {
  return JSON.stringify(body).replaceAll(PLANTED, (word) =>
    [...word]
      .map((letter) =>
        chance.below(2) === 0 ? letter : `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`,
      )
      .join(""),
  );
}

/** An object with a member that stands twice: the first one has the word. */
function repeated(body: object, chance: Chance): string {
  const text = JSON.stringify(body);
  const objects = [...text.matchAll(/\{("[A-Za-z_]+"):/g)];
  const { index = 0, 1: name = '"note"' } = chance.of(objects);
  if (!text.includes(PLANTED)) return text;
  return `${text.slice(0, index + 1)}${name}:"${PLANTED}",${text.slice(index + 1)}`;
}

/** With white space where JSON may have it. */
function wide(body: object, chance: Chance): string {
  return JSON.stringify(body, undefined, chance.of([1, " \n\t"]));
}
