/** One turn of the model as an assistant's message. */

import type { JsonObject } from "@sluice/contract";
import { invalidField, Reference } from "@sluice/kit/dialect";
import { blocksOf } from "./blocks.ts";
import type { Calls } from "./calls.ts";
import type { Fields } from "./fields.ts";
import { extraOf, keepMembers, type KeptMembers, unpacked } from "../signatures.ts";

/** Gathers the parts of consecutive contents of the model. */
export class ModelMessage {
  readonly #given: Calls;
  readonly #blocks: JsonObject[] = [];
  readonly #calls: JsonObject[] = [];
  #thoughts = "";
  #kept: KeptMembers | undefined;
  #signature: string | undefined;

  constructor(calls: Calls) {
    this.#given = calls;
  }

  add(part: Fields): void {
    const signature = this.#own(part.text("thoughtSignature"));
    const isThought = part.flag("thought") === true;
    const call = part.object("functionCall");
    if (call !== undefined) this.#addCall(call, signature);
    else {
      this.#signature = signature ?? this.#signature;
      const lowered = loweredCode(part);
      const blocks = lowered ?? blocksOf(part);
      if (isThought) this.#addThoughts(blocks, part);
      else for (const block of blocks) this.#addBlock(block);
    }
    part.end();
  }

  /** The message; none for a turn without anything to say. */
  messages(): readonly JsonObject[] {
    const content = this.#blocks.length === 0 ? null : Reference.textOrBlocks(this.#blocks);
    const isEmpty =
      content === null &&
      this.#calls.length === 0 &&
      this.#thoughts === "" &&
      this.#kept === undefined;
    if (isEmpty) return [];
    const hasThoughts = this.#thoughts !== "" && this.#kept?.thinking_blocks === undefined;
    return [
      {
        role: "assistant",
        content,
        ...(hasThoughts ? { reasoning_content: this.#thoughts } : {}),
        ...this.#kept,
        ...(this.#calls.length === 0 ? {} : { tool_calls: this.#calls }),
        ...(this.#signature === undefined ? {} : { extra_content: extraOf(this.#signature) }),
      },
    ];
  }

  /** Google's own signature. A packed one is unpacked into the message. */
  #own(signature: string | undefined): string | undefined {
    if (signature === undefined || signature === "") return undefined;
    const members = unpacked(signature);
    if (members === undefined) return signature;
    this.#kept = keepMembers(this.#kept, members as JsonObject);
    return undefined;
  }

  #addCall(call: Fields, signature: string | undefined): void {
    const name = call.text("name");
    const args = call.object("args");
    const given = call.get("args");
    const id = call.text("id");
    call.end();
    if (name === undefined || name === "")
      throw invalidField(`${call.path}.name`, "the name of the function");
    this.#calls.push({
      id: this.#given.add(name, id === "" ? undefined : id),
      type: "function",
      function: {
        name,
        arguments: JSON.stringify(
          args === undefined ? {} : call.notes.exact.of(given?.value ?? {}),
        ),
      },
      ...(signature === undefined ? {} : { extra_content: extraOf(signature) }),
    });
  }

  #addThoughts(blocks: readonly JsonObject[], { notes, path }: Fields): void {
    for (const { text } of blocks) {
      if (typeof text === "string") this.#thoughts += text;
      // A draft of an image is for people alone.
      else notes.dropped.add(path);
    }
  }

  /** Pieces of a streamed text are one text. */
  #addBlock(block: JsonObject): void {
    const last = this.#blocks.at(-1);
    if (typeof last?.text === "string" && typeof block.text === "string")
      this.#blocks.splice(-1, 1, { type: "text", text: last.text + block.text });
    else this.#blocks.push(block);
  }
}

/** Code that the model ran, and its output: other models read both as text. */
function loweredCode(part: Fields): readonly JsonObject[] | undefined {
  const code = part.object("executableCode");
  const result = part.object("codeExecutionResult");
  const made = code ?? result;
  if (made === undefined) return undefined;
  made.get("id");
  made.get("outcome");
  const language = made.text("language")?.toLowerCase() ?? "";
  const text = (code === undefined ? made.text("output") : made.text("code")) ?? "";
  made.end();
  return [{ type: "text", text: `\n\`\`\`${language}\n${text}\n\`\`\`\n` }];
}
