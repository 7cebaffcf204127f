/**
 * The blocks of a reply, in the order in which they are written. A stream and a whole reply make
 * them in the same way.
 */

import type { FaceContext, JsonObject, JsonValue } from "@sluice/contract";
import { isObject } from "@sluice/kit";
import { Members, Reference } from "@sluice/kit/dialect";
import { keptBlock } from "../kept-extra.ts";
import type { State } from "../read/request.ts";
import { UNSIGNED } from "../unsigned.ts";
import { CallHeads } from "./call-heads.ts";
import { AheadThought } from "./ahead-thought.ts";
import { citationsOf } from "./citations.ts";
import { Thoughts } from "./thoughts.ts";

/** One block. `deltas` are those that no event has yet. */
export interface Block {
  readonly kind: "text" | "thinking" | "tool_use" | "whole";
  /** The value of `content_block` at its start. A call's is complete when its name is known. */
  start: JsonObject;
  deltas: JsonObject[];
  /** The thought, or the arguments of the call, so far. */
  text: string;
  /** Whether nothing can be added any more. */
  isClosed: boolean;
  /** Of a thought: whether its provider signed it. */
  isSigned: boolean;
  /** Of a call: its arguments, as far as they make an object. */
  readonly object: Members.ObjectText | undefined;
}

/** Blocks that another provider than Anthropic cannot have made. */
const SERVER_BLOCK = /^(?:server_tool_use|mcp_tool_use|container_upload|[a-z_]+_tool_result)$/;

/** Makes blocks of deltas. */
export class Blocks {
  /** The calls, and their deltas that no event has yet. */
  readonly kept = new Reference.KeptOfStream();
  readonly #heads: CallHeads;
  readonly #blocks: Block[] = [];
  readonly #calls = new Map<JsonValue, Block>();
  #refusal = "";
  readonly #ahead = new AheadThought();
  readonly #thoughts = new Thoughts<Block>();
  #citations: JsonObject[] = [];

  constructor(state: State, context: FaceContext) {
    this.#heads = new CallHeads(state, context);
  }

  get list(): readonly Block[] {
    return this.#blocks;
  }

  get hasCalls(): boolean {
    return this.#calls.size > 0;
  }

  /** The text of a refusal; empty without one. */
  get refusal(): string {
    return this.#refusal;
  }

  /** Adds what one delta, or one message, says. */
  add(said: JsonObject): void {
    const { reasoning_content: reasoning, content, refusal } = said;
    const thoughts = Members.objectsOf(said.thinking_blocks);
    const before = this.#thoughts.open?.text ?? "";
    if (typeof reasoning === "string" && !isWithin(before + reasoning, thoughts))
      this.#think(reasoning);
    for (const block of thoughts) this.thought(block);
    if (typeof content === "string") this.write(content);
    if (typeof refusal === "string" && refusal !== "") {
      this.#refusal += refusal;
      this.write(refusal);
    }
    this.cite(citationsOf(said));
    for (const block of Members.objectsOf(said.provider_blocks)) this.#server(block);
    Members.objectsOf(said.tool_calls).forEach((call, index) => this.call(call, index));
  }

  /** Adds a piece of text. */
  write(text: string): void {
    if (text === "") return;
    this.#tail("text", { type: "text", text: "" }).deltas.push({ type: "text_delta", text });
    if (this.#citations.length === 0) return;
    const waiting = this.#citations;
    this.#citations = [];
    this.cite(waiting);
  }

  /** Adds the sources of the text before them; without one, they wait for the next. */
  cite(citations: readonly JsonObject[]): void {
    if (citations.length === 0) return;
    const tail = this.#blocks.at(-1);
    for (const citation of citations)
      if (tail?.kind === "text") tail.deltas.push({ type: "citations_delta", citation });
      else this.#citations.push(citation);
  }

  #think(thought: string): void {
    const text = this.#ahead.unsaid(thought);
    if (text === "") return;
    const tail = this.#tail("thinking", { type: "thinking", thinking: "", signature: "" });
    tail.text += text;
    tail.deltas.push({ type: "thinking_delta", thinking: text });
  }

  /**
   * Adds a block that the client must return. Its thought has arrived before, in pieces, where the
   * provider streams it.
   */
  thought(block: JsonObject): void {
    if (block.type === "redacted_thinking") {
      this.#push("whole", block);
      return;
    }
    if (typeof block.thinking !== "string") return;
    const { thinking } = block;
    const signature = Members.textIn(block.signature) ?? UNSIGNED;
    // It was written before its signature came: once is enough.
    if (thinking !== "" && this.#thoughts.hasUnsigned(thinking)) return;
    const { open } = this.#thoughts;
    const before = open === undefined || !thinking.startsWith(open.text) ? "" : open.text;
    const target =
      open !== undefined && (before !== "" || open.text === "")
        ? open
        : this.#push("thinking", { type: "thinking", thinking: "", signature: "" });
    const rest = thinking.slice(before.length);
    if (rest !== "") target.deltas.push({ type: "thinking_delta", thinking: rest });
    if (open === target) this.#ahead.said(rest);
    target.text = thinking;
    target.deltas.push({ type: "signature_delta", signature });
    target.isClosed = true;
    target.isSigned = true;
  }

  #server(block: JsonObject): void {
    if (typeof block.type === "string" && SERVER_BLOCK.test(block.type)) this.#push("whole", block);
  }

  /** Adds a call, or a piece of one. */
  call(call: JsonObject, at: number): void {
    const key = call.index ?? at;
    const made = isObject(call.function) ? call.function : {};
    let block = this.#calls.get(key);
    if (block === undefined) {
      this.kept.call();
      // A provider says it with the first piece of the call.
      if (isObject(call.extra_content)) this.#push("whole", keptBlock(call.extra_content));
      block = this.#push("tool_use", { type: "tool_use", id: "", name: "", input: {} });
      this.#calls.set(key, block);
    }
    block.start = this.#heads.with(block.start, call);
    const piece = made.arguments;
    if (typeof piece !== "string" || piece === "") return;
    block.text += piece;
    block.object?.add(piece);
    this.kept.hold();
    block.deltas.push({ type: "input_json_delta", partial_json: piece });
  }

  /** The start of a block that begins: a call without an id gets one. */
  begun(block: Block): JsonObject {
    return (block.start = this.#heads.identified(block.start));
  }

  /** The last block, if it is of this kind and open; else a new one. */
  #tail(kind: Block["kind"], start: JsonObject): Block {
    const tail = this.#blocks.at(-1);
    return tail?.kind === kind && !tail.isClosed ? tail : this.#push(kind, start);
  }

  #push(kind: Block["kind"], start: JsonObject): Block {
    const block = newBlock(kind, start);
    this.#blocks.push(block);
    if (kind === "thinking") this.#thoughts.begin(block);
    return block;
  }
}

function newBlock(kind: Block["kind"], start: JsonObject): Block {
  return {
    kind,
    start,
    deltas: [],
    text: "",
    isClosed: kind === "whole",
    isSigned: false,
    object: kind === "tool_use" ? new Members.ObjectText() : undefined,
  };
}

/** Whether the signed thoughts of a delta are a text. */
function isWithin(text: string, thoughts: readonly JsonObject[]): boolean {
  if (thoughts.length === 0) return false;
  return text === thoughts.map(({ thinking }) => thinking ?? "").join("");
}

/**
 * Whether a later block may be written: nothing more comes for this one. A call is whole when its
 * arguments are; pieces of another call may come between.
 */
export function isWhole({ kind, isClosed, start, object }: Block): boolean {
  if (kind !== "tool_use" || isClosed) return true;
  return start.id !== "" && start.name !== "" && object?.isWhole === true;
}

/** The last delta of a block that ends: a thought must have a signature. */
export function lastDelta({ kind, isClosed }: Block): JsonObject | undefined {
  return kind === "thinking" && !isClosed
    ? { type: "signature_delta", signature: UNSIGNED }
    : undefined;
}
