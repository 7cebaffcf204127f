/**
 * The output items of a reply, one after the other. A stream and a whole reply are written by the
 * same code, so that both give the same items.
 */

import type { FaceContext, JsonObject, JsonValue } from "@sluice/contract";
import type { ResponsesState, ToolName } from "../state.ts";
import { isTyped, TYPED_TOOLS } from "../typed-tools.ts";
import { CallItem } from "./call-item.ts";
import { Characters } from "./characters.ts";
import type { Events } from "./events.ts";
import { Extra } from "./extra.ts";
import { MessageItem } from "./message-item.ts";
import {
  emitAdded,
  emitDone,
  type ItemPlace,
  type ItemStatus,
  type OpenItem,
} from "./open-item.ts";
import { ReasoningItem } from "./reasoning-item.ts";
import { idOf } from "./response.ts";

/** A part of a call. The first one has the name. */
export interface CallPiece {
  readonly index: number;
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly arguments: string;
  readonly extra: JsonObject | undefined;
}

/** Items are made of pieces; one item is open at a time. */
export class Output {
  readonly #context: FaceContext;
  readonly #state: ResponsesState;
  readonly #events: Events;
  readonly #names: ReadonlyMap<string, ToolName>;
  readonly #items: JsonObject[] = [];
  readonly #callIds = new Set<string>();
  #open: OpenItem | undefined;
  /** Data of the text that waits for a reasoning item. */
  #extra = new Extra();
  readonly #characters: Characters;

  constructor(context: FaceContext, state: ResponsesState, events: Events) {
    this.#context = context;
    this.#state = state;
    this.#events = events;
    this.#characters = new Characters(events.isSilent);
    this.#names = new Map(state.names.map((name) => [name.flat, name]));
  }

  /** The open call. */
  get openCall(): CallItem | undefined {
    return this.#open instanceof CallItem ? this.#open : undefined;
  }

  /**
   * The items so far, an open one as far as it goes. A call without its end is left out: clients
   * parse the arguments of every call.
   */
  items(status: ItemStatus = "incomplete"): readonly JsonObject[] {
    return this.#open === undefined || this.#open instanceof CallItem
      ? this.#items
      : [...this.#items, this.#open.snapshot(status)];
  }

  reasoning(text: string): void {
    this.#characters.count(text);
    this.#reasoning().text(text);
  }

  block(block: JsonObject): void {
    this.#reasoning().block(block);
  }

  text(text: string, logprobs: readonly JsonValue[]): void {
    this.#characters.count(text);
    this.#message().text(text, logprobs);
  }

  /**
   * Adds to the text that is written. `insides`: the insides of JSON strings. Returns false where
   * another item, or none, is open.
   */
  texts(insides: readonly string[]): boolean {
    const item = this.#open;
    if (!(item instanceof MessageItem && item.isSaying)) return false;
    const text = textOf(insides.join(""));
    this.#characters.count(text);
    item.texts(insides, text);
    return true;
  }

  refusal(text: string): void {
    this.#characters.count(text);
    this.#message().refusal(text);
  }

  /** Annotates the text. Without one there is nothing to annotate. */
  annotate(annotation: JsonObject): void {
    if (this.#open instanceof MessageItem) this.#open.annotate(annotation);
  }

  /** Keeps data of the answer's text. */
  extra(extra: JsonObject): void {
    if (this.#open instanceof ReasoningItem) this.#open.extra(extra);
    else this.#extra.add(extra);
  }

  /** Adds an image: base64. */
  image(result: string): void {
    this.#characters.countImage(result);
    this.close("completed");
    this.#items.push(writtenImage(this.#place("ig"), result));
  }

  /** Begins a call, behind the data that its upstream needs back. */
  begin({ index, id, name = "", extra }: CallPiece): void {
    const hasData = extra !== undefined || this.#extra.isGiven;
    const thoughts = hasData ? this.#reasoning() : undefined;
    const callId = id === undefined || this.#callIds.has(id) ? `call_${this.#next()}` : id;
    this.#callIds.add(callId);
    if (extra !== undefined) thoughts?.callExtra(callId, extra);
    this.close("completed");
    const tool = this.#names.get(name) ?? { flat: name, kind: "function", name };
    this.#open = new CallItem(this.#place(prefixOf(tool)), { index, callId, tool });
  }

  /** Adds to the open call. */
  arguments(piece: string): void {
    this.#characters.count(piece);
    this.openCall?.arguments(piece);
  }

  /** Closes the open item. */
  close(status: ItemStatus): void {
    if (this.#open === undefined) return;
    const item = this.#open.close(status);
    this.#open = undefined;
    this.#items.push(item);
  }

  /** Closes the last item, and gives data of the text that is left. */
  end(status: ItemStatus): void {
    this.close(status);
    if (this.#extra.isGiven) {
      this.#reasoning();
      this.close(status);
    }
  }

  #reasoning(): ReasoningItem {
    if (this.#open instanceof ReasoningItem) return this.#open;
    this.close("completed");
    const item = new ReasoningItem(this.#place("rs"), this.#state, this.#context);
    this.#open = item;
    const { all } = this.#extra;
    if (all !== undefined) item.extra(all);
    this.#extra = new Extra();
    return item;
  }

  #message(): MessageItem {
    if (this.#open instanceof MessageItem) return this.#open;
    this.close("completed");
    return (this.#open = new MessageItem(this.#place("msg")));
  }

  #place(prefix: string): ItemPlace {
    const { add: emit, addTexts: emitTexts, isSilent } = this.#events;
    const id = `${prefix}_${this.#next()}`;
    return { id, index: this.#items.length, emit, emitTexts, isSilent };
  }

  #next(): string {
    return `${idOf(this.#context)}${String(this.#items.length).padStart(4, "0")}`;
  }
}

/** The item of an image, with its events. */
function writtenImage(place: ItemPlace, result: string): JsonObject {
  const { id } = place;
  const item = { id, type: "image_generation_call", status: "in_progress", result: null };
  emitAdded(place, item);
  return emitDone(place, { ...item, status: "completed", result });
}

/** The text of the inside of a JSON string. */
function textOf(inside: string): string {
  return inside.includes("\\") ? (JSON.parse(`"${inside}"`) as string) : inside;
}

function prefixOf({ kind }: ToolName): string {
  if (kind === "custom") return "ctc";
  return isTyped(kind) ? TYPED_TOOLS[kind].idPrefix : "fc";
}
