/** An output message: parts of text, with annotations, and refusals. */

import type { JsonObject, JsonValue } from "@sluice/contract";
import {
  emitAdded,
  emitDone,
  type ItemPlace,
  type ItemStatus,
  type OpenItem,
  TextPart,
} from "./open-item.ts";

type PartType = "output_text" | "refusal";

interface Part {
  readonly type: PartType;
  readonly text: TextPart;
  readonly annotations: JsonObject[];
  readonly logprobs: JsonValue[];
}

const NO_LOGPROBS = `,"logprobs":[]`;

function logprobsText(logprobs: readonly JsonValue[]): string {
  return `,"logprobs":${JSON.stringify(logprobs)}`;
}

/** The item while it is written. A part begins with its first text. */
export class MessageItem implements OpenItem {
  readonly #place: ItemPlace;
  readonly #parts: JsonObject[] = [];
  #part: Part | undefined;
  /** Annotations that wait for the whole text. */
  readonly #cited: JsonObject[] = [];

  constructor(place: ItemPlace) {
    this.#place = place;
    emitAdded(place, this.#item("in_progress", []));
  }

  text(text: string, logprobs: readonly JsonValue[]): void {
    const part = this.#open("output_text");
    for (const each of logprobs) part.logprobs.push(each);
    part.text.add(text, logprobs.length === 0 ? NO_LOGPROBS : logprobsText(logprobs));
  }

  /** Whether a text is written. */
  get isSaying(): boolean {
    return this.#part?.type === "output_text";
  }

  /** Adds to the text that is written: pieces as the insides of JSON strings, and all of them. */
  texts(insides: readonly string[], text: string): void {
    this.#open("output_text").text.addAll(insides, text, NO_LOGPROBS);
  }

  refusal(text: string): void {
    this.#open("refusal").text.add(text);
  }

  /** Adds an annotation. Without a place it covers the whole text, once that is known. */
  annotate(annotation: JsonObject): void {
    const isPlaced = typeof annotation.start_index === "number";
    if (isPlaced && this.#part?.type === "output_text") this.#annotate(this.#part, annotation);
    else this.#cited.push(annotation);
  }

  close(status: ItemStatus): JsonObject {
    this.#closePart();
    return emitDone(this.#place, this.#item(status, this.#parts));
  }

  snapshot(status: ItemStatus): JsonObject {
    const open = this.#part === undefined ? [] : [partOf(this.#part)];
    return this.#item(status, [...this.#parts, ...open]);
  }

  #item(status: string, content: readonly JsonObject[]): JsonObject {
    return { id: this.#place.id, type: "message", role: "assistant", status, content };
  }

  #open(type: PartType): Part {
    if (this.#part?.type === type) return this.#part;
    this.#closePart();
    const name = type === "refusal" ? "response.refusal" : "response.output_text";
    const at = `"content_index":${this.#parts.length}`;
    const text = new TextPart(this.#place, name, at);
    const part: Part = { type, text, annotations: [], logprobs: [] };
    const begun = JSON.stringify(partOf(part));
    this.#place.emit("response.content_part.added", `${text.place},"part":${begun}`);
    this.#part = part;
    return part;
  }

  #annotate({ text, annotations }: Part, annotation: JsonObject): void {
    const at = `"annotation_index":${annotations.length}`;
    annotations.push(annotation);
    this.#place.emit(
      "response.output_text.annotation.added",
      `${text.place},${at},"annotation":${JSON.stringify(annotation)}`,
    );
  }

  #closePart(): void {
    const part = this.#part;
    if (part === undefined) return;
    const { type, text } = part;
    if (type === "output_text") {
      const whole = { start_index: 0, end_index: text.text.length };
      for (const cited of this.#cited.splice(0)) this.#annotate(part, { ...whole, ...cited });
      text.done("text", logprobsText(part.logprobs));
    } else text.done("refusal");
    const done = partOf(part);
    this.#parts.push(done);
    this.#part = undefined;
    if (this.#place.isSilent) return;
    this.#place.emit("response.content_part.done", `${text.place},"part":${JSON.stringify(done)}`);
  }
}

function partOf({ type, text, annotations, logprobs }: Part): JsonObject {
  return type === "refusal"
    ? { type, refusal: text.text }
    : { type, text: text.text, annotations: [...annotations], logprobs: [...logprobs] };
}
