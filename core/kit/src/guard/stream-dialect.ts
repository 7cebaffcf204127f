/** Where the texts stand in the events of a streamed reply: what a dialect says of them. */

import type { JsonObject, JsonValue, TextPart } from "@sluice/spec";
import { type JsonPath, setAt } from "./at-path.ts";
import { bodyTexts } from "./texts.ts";

/** A text in an event. */
export interface StreamPiece {
  /** Texts of one channel belong together, in order. */
  readonly channel: string;
  readonly part: TextPart;
  readonly path: JsonPath;
  readonly text: string;
  /** Whether the text is JSON itself. */
  readonly isJson?: boolean;
  /** A short text that is judged as it comes, together with what came before it, and never held. */
  readonly isName?: boolean;
  /** Of a name: it stands for itself, and nothing came before it. */
  readonly isWhole?: boolean;
  /** Of a name: it can be refused, not edited. */
  readonly isFixed?: boolean;
}

/** What an event holds. */
export interface StreamTexts {
  readonly pieces: readonly StreamPiece[];
  /** Channels that begin with this end with the event; an empty text means all. */
  readonly ends?: string;
  /** The event belongs to the end of the stream: it may not come before texts that are still held. */
  readonly isLast?: boolean;
}

/** A dialect of streamed replies. */
export interface StreamDialect {
  read(event: JsonObject): StreamTexts;
  /** The event with other texts in the places of its pieces. What would tell the old ones goes. */
  write(event: JsonObject, pieces: readonly StreamPiece[], texts: readonly string[]): JsonObject;
  /** The event as one for each piece, in order. */
  split(event: JsonObject, pieces: readonly StreamPiece[]): readonly JsonObject[];
}

/** An event without texts. */
export const NOTHING: StreamTexts = Object.freeze({ pieces: Object.freeze([]) as readonly StreamPiece[] });

/**
 * The texts of a member that no dialect knows to come in pieces: each is judged alone, as it comes. That is how nothing passes
 * unseen which a provider adds to its events.
 */
export function otherPieces(value: JsonValue | undefined, base: JsonPath): StreamPiece[] {
  if (value === undefined || value === null) return [];
  return bodyTexts({ output: value }, "passthrough")
    .texts.filter(({ parts, isBare, text }) => parts === undefined && (isBare !== true || isNumber(text)))
    .map(({ path, part, text, isFixed = false }) => {
      const place = [...base, ...path.slice(1)];
      return { channel: place.join("."), part, path: place, text, isName: true, isWhole: true, isFixed };
    });
}

/** Words of the protocol and identifiers of a reply are the provider's; a long number may be the model's. */
function isNumber(text: string): boolean {
  return /^-?\d+$/.test(text);
}

/** The same for the members of an object, without those whose names are listed. */
export function otherMembers(object: JsonObject, base: JsonPath, known: ReadonlySet<string>): StreamPiece[] {
  const pieces: StreamPiece[] = [];
  for (const [name, value] of Object.entries(object)) {
    if (known.has(name) || typeof value === "number" || typeof value === "boolean" || value === null) continue;
    // The name goes along: a word of the protocol is no text.
    const rest: JsonObject = { [name]: value };
    pieces.push(...otherPieces(rest, base));
  }
  return pieces;
}

/** The event with other texts in the places of its pieces. */
export function writePieces(event: JsonObject, pieces: readonly StreamPiece[], texts: readonly string[]): JsonObject {
  let changed = event;
  for (const [index, piece] of pieces.entries()) changed = setAt(changed, piece.path, texts[index] ?? "");
  return changed;
}

/** The event once for each of its pieces, without the texts of the others. */
export function splitPieces(event: JsonObject, pieces: readonly StreamPiece[]): readonly JsonObject[] {
  return pieces.map((piece) =>
    writePieces(
      event,
      pieces,
      pieces.map((other) => (other === piece ? piece.text : "")),
    ),
  );
}
