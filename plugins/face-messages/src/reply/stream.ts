/** Chunks as the events of a message stream. */

import type { FaceContext, FaceStream, GatewayError, JsonObject } from "@sluice/contract";
import { isObject } from "@sluice/kit";
import { Members } from "@sluice/kit/dialect";
import { errorBody } from "../errors.ts";
import type { State } from "../read/request.ts";
import { type Block, Blocks, isWhole, lastDelta } from "./blocks.ts";
import { messageId } from "./message.ts";
import { stopOf } from "./stop.ts";
import { countsOf, usageOf } from "./usage.ts";

/**
 * Writes one stream. One block is open at a time, in the order of their beginnings; what belongs to
 * a later block waits until the one before it is whole.
 */
export class MessageWriter implements FaceStream {
  readonly #context: FaceContext;
  readonly #blocks: Blocks;
  /** The block that is written next. */
  #at = 0;
  #isOpen = false;
  #isStarted = false;
  #end: JsonObject = {};
  #usage: JsonObject = {};

  constructor(state: State, context: FaceContext) {
    this.#context = context;
    this.#blocks = new Blocks(state, context);
  }

  chunk(chunk: JsonObject): string {
    if (chunk.usage !== undefined && chunk.usage !== null) this.#usage = chunk;
    const head = this.#isStarted ? "" : this.#start(chunk);
    const choice = Members.objectsOf(chunk.choices).find(({ index = 0 }) => index === 0);
    if (choice === undefined) return head;
    if (isObject(choice.delta)) this.#blocks.add(choice.delta);
    const isLast = choice.finish_reason !== undefined && choice.finish_reason !== null;
    if (isLast) this.#end = choice;
    return head + this.#drain(isLast);
  }

  texts(contents: readonly string[]): string {
    const { list } = this.#blocks;
    const block = list[this.#at];
    const isTail = this.#isOpen && block?.kind === "text" && this.#at === list.length - 1;
    if (!isTail || block.isClosed || block.deltas.length > 0) {
      for (const content of contents) this.#blocks.write(JSON.parse(`"${content}"`) as string);
      return this.#drain(false);
    }
    const head = `event: content_block_delta\ndata: {"type":"content_block_delta","index":${this.#at},"delta":{"type":"text_delta","text":"`;
    let text = "";
    for (const content of contents) if (content !== "") text += `${head}${content}"}}\n\n`;
    return text;
  }

  end(): string {
    const head = this.#isStarted ? "" : this.#start({});
    const rest = head + this.#drain(true);
    const { hasCalls, refusal } = this.#blocks;
    const stop = stopOf({ choice: this.#end, hasCalls, refusal });
    const delta = { ...stop, container: null };
    const usage = countsOf(this.#usage.usage);
    return `${rest}${eventOf({ type: "message_delta", delta, usage })}${eventOf({ type: "message_stop" })}`;
  }

  failure(error: GatewayError): string {
    return eventOf({ ...errorBody(error), request_id: this.#context.requestId });
  }

  #start(chunk: JsonObject): string {
    this.#isStarted = true;
    const message = {
      id: messageId(this.#context),
      type: "message",
      role: "assistant",
      model: Members.textIn(chunk.model) ?? this.#context.model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      stop_details: null,
      container: null,
      usage: isObject(chunk.usage)
        ? usageOf(chunk)
        : { ...usageOf(chunk), input_tokens: this.#context.promptTokens?.() ?? 0 },
    };
    return eventOf({ type: "message_start", message });
  }

  /** The events of what has come. `isLast`: nothing more comes. */
  #drain(isLast: boolean): string {
    const { list } = this.#blocks;
    let text = "";
    for (;;) {
      const block = list[this.#at];
      if (block === undefined) return text;
      const isNext = this.#at + 1 < list.length || isLast;
      if (!this.#isOpen && !isLast && !isNamed(block)) return text;
      text += this.#write(block);
      if (!isNext || (!isLast && !isWhole(block))) return text;
      text += this.#close(block);
    }
  }

  /** The events of a block's beginning and of its new deltas. */
  #write(block: Block): string {
    const index = this.#at;
    let text = "";
    if (!this.#isOpen) {
      this.#isOpen = true;
      const content_block = this.#blocks.begun(block);
      text = eventOf({ type: "content_block_start", index, content_block });
    }
    for (const delta of block.deltas) text += deltaOf(index, delta);
    if (block.kind === "tool_use") this.#blocks.kept.release(block.deltas.length);
    if (block.deltas.length > 0) block.deltas = [];
    return text;
  }

  #close(block: Block): string {
    const index = this.#at;
    const last = lastDelta(block);
    block.isClosed = true;
    this.#isOpen = false;
    this.#at++;
    const stop = eventOf({ type: "content_block_stop", index });
    return last === undefined ? stop : deltaOf(index, last) + stop;
  }
}

/** Whether a block can begin: a call needs its id and its name. */
function isNamed({ kind, start }: Block): boolean {
  return kind !== "tool_use" || (start.id !== "" && start.name !== "");
}

function eventOf(event: JsonObject): string {
  return `event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`;
}

function deltaOf(index: number, delta: JsonObject): string {
  return `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":${JSON.stringify(delta)}}\n\n`;
}
