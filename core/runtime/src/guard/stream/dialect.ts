/** The places of texts in the events of a streamed reply, for each dialect. */

import { GatewayError, type JsonObject, type JsonValue, type TextPart } from "@sluice/contract";
import type { JsonPath } from "@sluice/kit/internals";
import { bodyTexts } from "@sluice/kit/guard";

/** A text in an event. */
export interface StreamPiece {
  /** Texts of one channel form one text, in order. */
  readonly channel: string;
  readonly part: TextPart;
  readonly path: JsonPath;
  readonly text: string;
  /** Whether the text is JSON itself. */
  readonly isJson?: boolean;
  /**
   * A short text that is checked immediately, together with the channel's text before it, and never
   * held.
   */
  readonly isName?: boolean;
  /** For a name: the check reads it alone, without the channel's text before it. */
  readonly isWhole?: boolean;
  /** For a name: it can be refused, not edited. */
  readonly isFixed?: boolean;
}

/** Whether a piece is running text, not a name. */
export function isText({ isName }: StreamPiece): boolean {
  return isName !== true;
}

/** The texts of an event. */
export interface StreamTexts {
  readonly pieces: readonly StreamPiece[];
  /** Channels with this prefix end with the event; an empty text means all channels. */
  readonly ends?: string;
  /**
   * Texts of channels with one of these prefixes precede the event: a call begins, for example. A
   * stream that is judged in windows decides them then. A text that goes on behind the event is
   * judged with the one before.
   */
  readonly follows?: readonly string[];
  /** The event belongs to the end of the stream: held texts must precede it. */
  readonly isLast?: boolean;
}

/** A dialect of streamed replies. */
export interface StreamDialect {
  /** An event of several answers as one event for each; absent, or `undefined`, for all others. */
  divide?(event: JsonObject): readonly JsonObject[] | undefined;
  /** The texts of an event of one answer. */
  read(event: JsonObject): StreamTexts;
  /**
   * The event with other texts in the places of its pieces. Members that would reveal the old ones
   * are removed.
   */
  write(event: JsonObject, pieces: readonly StreamPiece[], texts: readonly string[]): JsonObject;
  /** The event split into one for each running text, in order. */
  split(event: JsonObject, pieces: readonly StreamPiece[]): readonly SplitEvent[];
}

/** A part of an event with a single running text. */
export interface SplitEvent {
  readonly event: JsonObject;
  /** The text, in its place in this event. Its channel is that of the original event. */
  readonly piece: StreamPiece;
}

/**
 * An event with one item of a list in each of its parts; `undefined` for a list of one at most. The
 * members named `shared` are in each part, those named `last` in the last one, all others in the
 * first one.
 */
export function divided(
  event: JsonObject,
  list: string,
  { shared, last }: Record<"shared" | "last", ReadonlySet<string>>,
): readonly JsonObject[] | undefined {
  const items = event[list];
  if (!Array.isArray(items) || items.length < 2) return undefined;
  return (items as readonly JsonValue[]).map((item, at) => {
    const isIn = (name: string): boolean =>
      shared.has(name) || at === (last.has(name) ? items.length - 1 : 0);
    const members = Object.entries(event).filter(([name]) => name !== list && isIn(name));
    return { ...Object.fromEntries(members), [list]: [item] };
  });
}

/** Maximum running texts of one event: each becomes an event of its own. */
const MAX_RUNNING = 4_096;
/** Maximum texts of one event, those included that are checked in their places. */
const MAX_TEXTS = 25_000;

/** The same texts. Throws `upstream_invalid_response` for more than one event may have. */
export function boundedTexts(pieces: readonly StreamPiece[]): readonly StreamPiece[] {
  if (pieces.length > MAX_TEXTS) throw tooManyTexts(MAX_TEXTS);
  if (pieces.length > MAX_RUNNING && pieces.filter(isText).length > MAX_RUNNING)
    throw tooManyTexts(MAX_RUNNING);
  return pieces;
}

function tooManyTexts(most: number): GatewayError {
  return new GatewayError(
    "upstream_invalid_response",
    `An event of the upstream's stream has more than ${most} texts, which guardrails check.`,
  );
}

/** An event without texts. */
export const NOTHING: StreamTexts = Object.freeze({
  pieces: Object.freeze([]) as readonly StreamPiece[],
});

/**
 * The texts of a member that no dialect sends in pieces: each is checked alone, in its event.
 * Additions of a provider are thus checked too.
 */
export function otherPieces(value: JsonValue | undefined, base: JsonPath): StreamPiece[] {
  if (value === undefined || value === null) return [];
  const { texts } = bodyTexts({ output: value }, "passthrough", "blocks", tooManyTexts);
  return texts
    .filter(({ parts, isBare, text }) => parts === undefined && (isBare !== true || isNumber(text)))
    .map(({ path, part, text, isFixed = false }) => {
      const place = [...base, ...path.slice(1)];
      return {
        channel: place.join("."),
        part,
        path: place,
        text,
        isName: true,
        isWhole: true,
        isFixed,
      };
    });
}

/**
 * Protocol words and identifiers of a reply are the provider's; a long number may be the model's.
 */
function isNumber(text: string): boolean {
  return /^-?\d+$/.test(text);
}

/** The same for the members of an object, except the listed names. */
export function otherMembers(
  object: JsonObject,
  base: JsonPath,
  known: ReadonlySet<string>,
): StreamPiece[] {
  const pieces: StreamPiece[] = [];
  for (const [name, value] of Object.entries(object)) {
    if (
      known.has(name) ||
      typeof value === "number" ||
      typeof value === "boolean" ||
      value === null
    )
      continue;
    // The name is included: a word of the protocol is not a text.
    const rest: JsonObject = { [name]: value };
    pieces.push(...otherPieces(rest, base));
    boundedTexts(pieces);
  }
  return pieces;
}
