/** An output item that is still written, and what all items share. */

import type { JsonObject } from "@sluice/contract";
import { type EventSink, placeOf, type TextSink } from "./events.ts";

/** The end of an item: whole, or cut short. */
export type ItemStatus = "completed" | "incomplete";

/** What an item is made with. */
export interface ItemPlace {
  readonly id: string;
  readonly index: number;
  readonly emit: EventSink;
  readonly emitTexts: TextSink;
  /** Whether events are dropped. */
  readonly isSilent: boolean;
}

/** An item that is still written. */
export interface OpenItem {
  /** Writes the end of the item, and returns it. */
  close(status: ItemStatus): JsonObject;
  /** The item so far, without an event. */
  snapshot(status: ItemStatus): JsonObject;
}

/** Writes the begin of an item. */
export function emitAdded({ emit, index, isSilent }: ItemPlace, item: JsonObject): void {
  if (isSilent) return;
  emit("response.output_item.added", `"output_index":${index},"item":${JSON.stringify(item)}`);
}

/** Writes the end of an item. Returns the item. */
export function emitDone({ emit, index, isSilent }: ItemPlace, item: JsonObject): JsonObject {
  if (isSilent) return item;
  emit("response.output_item.done", `"output_index":${index},"item":${JSON.stringify(item)}`);
  return item;
}

/** A text that is written in deltas: a part of a message, a thought, arguments. */
export class TextPart {
  readonly #emit: EventSink;
  readonly #isSilent: boolean;
  readonly #emitTexts: TextSink;
  readonly #event: string;
  readonly #place: string;
  #text = "";

  /**
   * `event`: the common part of its events' names. `part`: its index within the item, as JSON text.
   */
  constructor({ emit, emitTexts, id, index, isSilent }: ItemPlace, event: string, part?: string) {
    this.#isSilent = isSilent;
    this.#emit = emit;
    this.#emitTexts = emitTexts;
    this.#event = event;
    this.#place = placeOf(id, index, part);
  }

  get text(): string {
    return this.#text;
  }

  get place(): string {
    return this.#place;
  }

  /** Writes a delta. `more`: further members, as JSON text with a leading comma. */
  add(delta: string, more = ""): void {
    this.#text += delta;
    if (this.#isSilent) return;
    this.#emit(`${this.#event}.delta`, `${this.#place},"delta":${JSON.stringify(delta)}${more}`);
  }

  /** Writes deltas. `insides`: each as the inside of a JSON string. `delta`: all of them. */
  addAll(insides: readonly string[], delta: string, more = ""): void {
    this.#text += delta;
    const head = `${this.#place},"delta":"`;
    this.#emitTexts(`${this.#event}.delta`, { head, insides, tail: `"${more}` });
  }

  /** Writes the whole text under `member`. */
  done(member: string, more = ""): void {
    if (this.#isSilent) return;
    const text = JSON.stringify(this.#text);
    this.#emit(`${this.#event}.done`, `${this.#place},"${member}":${text}${more}`);
  }
}
