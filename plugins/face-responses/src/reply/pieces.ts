/**
 * Deltas of the reference dialect as pieces of items. Pieces of calls may interleave: what belongs
 * to another item waits until the arguments of the open call are whole.
 */

import { isObject } from "@sluice/kit";
import { Members, Reference } from "@sluice/kit/dialect";
import type { JsonObject, JsonValue } from "@sluice/contract";
import { annotationsOf } from "./annotations.ts";
import type { CallItem } from "./call-item.ts";
import { HeldPieces } from "./held-pieces.ts";
import type { ItemStatus } from "./open-item.ts";
import type { CallPiece, Output } from "./output.ts";

/** A call whose name is not known yet, or that was begun. */
interface KnownCall {
  id: string | undefined;
  name: string | undefined;
  extra: JsonObject | undefined;
  arguments: string;
  isBegun: boolean;
}

/** The target of what belongs to no call. No index is one. */
const NO_CALL = undefined;
const NO_LOGPROBS: readonly JsonValue[] = Object.freeze([]);
const DATA_URL = /^data:[^,]*;base64,/;

/** The reader of one reply. */
export class Pieces {
  readonly #output: Output;
  readonly #calls = new Map<number, KnownCall>();
  readonly #held = new HeldPieces();
  readonly #kept = new Reference.KeptOfStream();

  constructor(output: Output) {
    this.#output = output;
  }

  /** Reads a delta, or a whole message: in the order in which their members follow each other. */
  delta(delta: JsonObject, logprobs: readonly JsonValue[]): void {
    const output = this.#output;
    const { content, reasoning_content: reasoning, refusal, extra_content: extra } = delta;
    if (isText(reasoning)) this.#put(NO_CALL, () => output.reasoning(reasoning));
    for (const block of Members.objectsOf(delta.thinking_blocks))
      this.#put(NO_CALL, () => output.block(block));
    if (isText(content)) this.#put(NO_CALL, () => output.text(content, logprobs));
    if (isText(refusal)) this.#put(NO_CALL, () => output.refusal(refusal));
    if (delta.annotations !== undefined || delta.citations !== undefined)
      for (const annotation of annotationsOf(delta))
        this.#put(NO_CALL, () => output.annotate(annotation));
    if (isObject(extra)) this.#put(NO_CALL, () => output.extra(extra));
    for (const { image_url: image } of Members.objectsOf(delta.images)) {
      const url = isObject(image) && typeof image.url === "string" ? image.url : "";
      if (DATA_URL.test(url.slice(0, 256)))
        this.#put(NO_CALL, () => output.image(url.slice(url.indexOf(",") + 1)));
    }
    if (delta.tool_calls === undefined) return;
    for (const [position, call] of Members.objectsOf(delta.tool_calls).entries())
      this.#call(pieceOf(call, position));
  }

  /** Reads contents that are nothing but a text each, as the insides of JSON strings. */
  texts(insides: readonly string[]): void {
    if (this.#held.isEmpty && this.#output.texts(insides)) return;
    for (const content of JSON.parse(`["${insides.join('","')}"]`) as readonly string[])
      this.delta({ content }, NO_LOGPROBS);
  }

  /** The end of the reply: what waits is written, and the last item is closed. */
  end(status: ItemStatus): void {
    while (!this.#held.isEmpty) {
      this.#output.close(status);
      this.#release();
    }
    this.#output.end(status);
  }

  #call(piece: CallPiece): void {
    this.#put(piece.index, () => {
      const call = this.#known(piece);
      if (call.isBegun) {
        if (this.#output.openCall?.index === piece.index) this.#output.arguments(piece.arguments);
        return;
      }
      call.arguments += piece.arguments;
      if (call.name === undefined) return;
      call.isBegun = true;
      this.#output.begin({ ...call, index: piece.index });
      this.#output.arguments(call.arguments);
    });
  }

  #known({ index, id, name, extra }: CallPiece): KnownCall {
    let call = this.#calls.get(index);
    if (call === undefined) {
      this.#kept.call();
      call = { id, name, extra, arguments: "", isBegun: false };
      this.#calls.set(index, call);
    }
    call.id ??= id;
    call.name ??= name;
    call.extra ??= extra;
    return call;
  }

  /** Applies a piece, or holds it. `target`: the index of its call, or {@link NO_CALL}. */
  #put(target: number | undefined, apply: () => void): void {
    const open = this.#waited;
    if (open !== undefined && open.index !== target) {
      this.#kept.hold();
      this.#held.add(target, apply);
    } else {
      apply();
      this.#release();
    }
  }

  /** The open call, while its arguments are not whole: only its own pieces are applied. */
  get #waited(): CallItem | undefined {
    const open = this.#output.openCall;
    return open?.isComplete === true ? undefined : open;
  }

  /** Applies held pieces, in the order of their arrival, up to one that waits again. */
  #release(): void {
    while (!this.#held.isEmpty) {
      const open = this.#waited;
      const apply = open === undefined ? this.#held.take() : this.#held.takeOf(open.index);
      if (apply === undefined) return;
      this.#kept.release(1);
      apply();
    }
  }
}

function isText(value: JsonValue | undefined): value is string {
  return typeof value === "string" && value !== "";
}

function pieceOf(call: JsonObject, position: number): CallPiece {
  const called = isObject(call.function) ? call.function : {};
  return {
    index: typeof call.index === "number" ? call.index : position,
    id: Members.textIn(call.id),
    name: Members.textIn(called.name),
    arguments: typeof called.arguments === "string" ? called.arguments : "",
    extra: isObject(call.extra_content) ? call.extra_content : undefined,
  };
}
