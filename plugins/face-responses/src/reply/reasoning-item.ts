/** A reasoning item: readable reasoning, and the envelope of what the upstream needs back. */

import type { FaceContext, JsonObject } from "@sluice/contract";
import { seal } from "../envelope.ts";
import type { ResponsesState } from "../state.ts";
import { placeOf } from "./events.ts";
import { Extra } from "./extra.ts";
import {
  emitAdded,
  emitDone,
  type ItemPlace,
  type ItemStatus,
  type OpenItem,
  TextPart,
} from "./open-item.ts";

/** The item while it is written. */
export class ReasoningItem implements OpenItem {
  readonly #place: ItemPlace;
  readonly #state: ResponsesState;
  readonly #context: FaceContext;
  #text: TextPart | undefined;
  readonly #blocks: JsonObject[] = [];
  readonly #calls: (readonly [string, JsonObject])[] = [];
  readonly #extra = new Extra();

  constructor(place: ItemPlace, state: ResponsesState, context: FaceContext) {
    this.#place = place;
    this.#state = state;
    this.#context = context;
    emitAdded(place, { id: place.id, type: "reasoning", summary: [] });
  }

  text(text: string): void {
    this.#text ??= this.#begin();
    this.#text.add(text);
  }

  block(block: JsonObject): void {
    this.#blocks.push(block);
  }

  /** Keeps data of a call that follows. */
  callExtra(id: string, extra: JsonObject): void {
    this.#calls.push([id, extra]);
  }

  /** Keeps data of the answer's text. */
  extra(extra: JsonObject): void {
    this.#extra.add(extra);
  }

  close(): JsonObject {
    this.#end();
    return emitDone(this.#place, this.snapshot());
  }

  snapshot(_status?: ItemStatus): JsonObject {
    const part = this.#text === undefined ? undefined : this.#part(this.#text.text);
    const parts = part === undefined ? [] : [part];
    const { hasSummary } = this.#state;
    const sealed = this.#envelope();
    return {
      id: this.#place.id,
      type: "reasoning",
      summary: hasSummary ? parts : [],
      ...(hasSummary || parts.length === 0 ? {} : { content: parts }),
      ...(sealed === undefined ? {} : { encrypted_content: sealed }),
    };
  }

  #part(text: string): JsonObject {
    return { type: this.#state.hasSummary ? "summary_text" : "reasoning_text", text };
  }

  #begin(): TextPart {
    const { id, index, emit } = this.#place;
    const [event, part] = this.#state.hasSummary
      ? ["response.reasoning_summary_part.added", `"summary_index":0`]
      : ["response.content_part.added", `"content_index":0`];
    emit(event, `${placeOf(id, index, part)},"part":${JSON.stringify(this.#part(""))}`);
    const name = this.#state.hasSummary ? "reasoning_summary_text" : "reasoning_text";
    return new TextPart(this.#place, `response.${name}`, part);
  }

  #end(): void {
    const text = this.#text;
    if (text === undefined) return;
    text.done("text");
    const event = this.#state.hasSummary ? "reasoning_summary_part" : "content_part";
    const part = JSON.stringify(this.#part(text.text));
    this.#place.emit(`response.${event}.done`, `${text.place},"part":${part}`);
  }

  /** Signed data is always given; readable text alone where the client asks for envelopes. */
  #envelope(): string | undefined {
    const text = this.#text?.text ?? "";
    const signed = this.#blocks.map((b) => (typeof b.thinking === "string" ? b.thinking : ""));
    const own = text === "" || text === signed.join("") ? undefined : text;
    const hasData = this.#blocks.length + this.#calls.length > 0 || this.#extra.isGiven;
    if (!hasData && (own === undefined || !this.#state.hasEnvelopes)) return undefined;
    const thoughts = {
      text: own,
      blocks: this.#blocks,
      calls: this.#calls,
      extra: this.#extra.all,
    };
    return seal(thoughts, this.#context);
  }
}
