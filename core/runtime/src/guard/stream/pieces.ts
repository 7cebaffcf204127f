/** Writes and splits the events of a stream: one pass over an event, for all of its texts. */

import type { JsonObject, JsonValue } from "@sluice/contract";
import type { SplitEvent, StreamPiece } from "./dialect.ts";

/** An object in one of the events that it is split into. */
export interface SplitObject {
  /** The number of names and indexes above the object. */
  readonly depth: number;
  readonly isFirst: boolean;
  readonly isLast: boolean;
}

/** The value of a member without a text in one event; `undefined` where the event lacks it. */
export type SplitMember = (
  name: string,
  value: JsonValue | undefined,
  object: SplitObject,
) => JsonValue | undefined;

/** The event with other texts in the places of its pieces. */
export function writePieces(
  event: JsonObject,
  pieces: readonly StreamPiece[],
  texts: readonly string[],
): JsonObject {
  return written(event, placesOf(pieces), texts) as JsonObject;
}

/**
 * One event for each piece, with its text and no other. A member or item without a text is in a
 * single event, unless `member` repeats it.
 */
export function splitPieces(
  event: JsonObject,
  pieces: readonly StreamPiece[],
  member: SplitMember = ordinaryMember,
): readonly SplitEvent[] {
  const root = placesOf(pieces);
  return pieces.map((piece, index) => new Part(piece, index, member).of(event, root));
}

/** The members that identify an event or a block are in each of its events. */
function ordinaryMember(
  name: string,
  value: JsonValue | undefined,
  { depth, isFirst }: SplitObject,
): JsonValue | undefined {
  const isShared = name === "type" || name === "index" || (name === "id" && depth === 0);
  return isFirst || isShared ? value : undefined;
}

/** A place on the way to one or more texts of an event. */
interface Place {
  readonly children: Map<string | number, Place>;
  /** The first and the last of the pieces below the place. */
  readonly first: number;
  last: number;
  /**
   * For an item of a list: the items from `from` up to `to` go with it. An item without a text goes
   * with the item with a text before it, or else with the first item with a text.
   */
  readonly from: number;
  to: number | undefined;
  /** The child that was added last. */
  newest?: Place;
  /** The members of an object in the events between its first and its last. */
  shared?: readonly Entry[];
}

type Entry = readonly [name: string, value: JsonValue | undefined];

/** The tree of the places of pieces. The pieces below a list are in the order of the list. */
function placesOf(pieces: readonly StreamPiece[]): Place {
  const root: Place = { children: new Map(), first: 0, last: 0, from: 0, to: undefined };
  for (const [index, { path }] of pieces.entries()) {
    let place = root;
    place.last = index;
    for (const key of path) {
      const child = place.children.get(key) ?? addPlace(place, key, index);
      child.last = index;
      place = child;
    }
  }
  return root;
}

function addPlace(parent: Place, key: string | number, index: number): Place {
  const { newest } = parent;
  const at = typeof key === "number" ? key : 0;
  if (newest !== undefined) newest.to = at;
  const from = newest === undefined ? 0 : at;
  const place: Place = { children: new Map(), first: index, last: index, from, to: undefined };
  parent.children.set(key, place);
  parent.newest = place;
  return place;
}

function written(value: JsonValue, place: Place, texts: readonly string[]): JsonValue {
  const { children } = place;
  if (children.size === 0) return texts[place.last] ?? "";
  if (Array.isArray(value)) {
    const copy = (value as readonly JsonValue[]).slice();
    for (const [key, child] of children)
      copy[key as number] = written(copy[key as number] ?? null, child, texts);
    return copy;
  }
  return Object.fromEntries(
    Object.entries(value as JsonObject).map(([name, inner]) => {
      const child = children.get(name);
      return [name, child === undefined ? inner : written(inner ?? null, child, texts)];
    }),
  );
}

/** The part of an event with one of its pieces. */
class Part {
  readonly #piece: StreamPiece;
  readonly #index: number;
  readonly #member: SplitMember;
  readonly #path: (string | number)[] = [];

  constructor(piece: StreamPiece, index: number, member: SplitMember) {
    this.#piece = piece;
    this.#index = index;
    this.#member = member;
  }

  of(event: JsonObject, root: Place): SplitEvent {
    const part = this.#value(event, root, 0) as JsonObject;
    return { event: part, piece: { ...this.#piece, path: this.#path } };
  }

  #value(value: JsonValue, place: Place, depth: number): JsonValue {
    const key = this.#piece.path[depth];
    const child = key === undefined ? undefined : place.children.get(key);
    if (key === undefined || child === undefined) return value;
    if (Array.isArray(value)) return this.#list(value, key as number, child, depth);
    this.#path.push(key);
    const record = value as JsonObject;
    const own = this.#value(record[key] ?? null, child, depth + 1);
    return this.#object(record, place, [key as string, own], depth);
  }

  #list(list: readonly JsonValue[], at: number, child: Place, depth: number): JsonValue {
    const before = this.#index === child.first ? list.slice(child.from, at) : [];
    const after = this.#index === child.last ? list.slice(at + 1, child.to) : [];
    this.#path.push(before.length);
    return [...before, this.#value(list[at] ?? null, child, depth + 1), ...after];
  }

  #object(record: JsonObject, place: Place, own: Entry, depth: number): JsonValue {
    const isFirst = this.#index === place.first;
    const isLast = this.#index === place.last;
    const rest = (): Entry[] =>
      Object.entries(record)
        .filter(([name]) => !place.children.has(name))
        .map(([name, value]) => [name, this.#member(name, value, { depth, isFirst, isLast })]);
    const members = isFirst || isLast ? rest() : (place.shared ??= rest().filter(isPresent));
    return Object.fromEntries([...members.filter(isPresent), own]);
  }
}

function isPresent([, value]: Entry): boolean {
  return value !== undefined;
}
