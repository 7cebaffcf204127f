/**
 * Collects the messages of the reference dialect. Items of one answer join one message; the result
 * of a call follows the message with the call, wherever the client put it.
 */

import type { Stages } from "@sluice/kit";
import type { JsonObject } from "@sluice/contract";
import type { Thoughts } from "../envelope.ts";
import { type Content, divided, plain } from "./parts.ts";
import type { Notes } from "./notes.ts";
import { refused, shown } from "./refusals.ts";

/** A call of the model, in the client's terms. */
export interface Call {
  readonly id: string;
  /** The name in the reference dialect. */
  readonly flat: string;
  readonly arguments: string;
}

/** A message of the user, or instructions. */
interface Said {
  readonly message: JsonObject;
}

/** An answer of the assistant. */
interface Entry {
  readonly message?: undefined;
  readonly blocks: JsonObject[];
  refusal: string;
  readonly thoughts: Thoughts[];
  extra: JsonObject | undefined;
  readonly calls: Call[];
  readonly results: JsonObject[];
  /** Media of results: a message of the user after all of them. */
  readonly media: JsonObject[];
}

/** The messages of one request. */
export class Conversation {
  readonly #notes: Notes;
  /** The messages, after `end`. */
  messages: readonly JsonObject[] = [];
  readonly #thoughtsOf: string[] = [];
  readonly #entries: (Entry | Said)[] = [];
  readonly #byCall = new Map<string, Entry>();
  /** The answer that further items of the assistant join. */
  #answer: Entry | undefined;
  /** Thoughts that wait for the item they precede. */
  #waiting: { readonly path: string; readonly thoughts: Thoughts }[] = [];

  constructor(notes: Notes) {
    this.#notes = notes;
  }

  /** Adds a message of the user, or instructions. */
  message(role: "system" | "developer" | "user", { blocks }: Content): void {
    this.#endAnswer();
    this.#entries.push({ message: { role, content: plain(blocks) } });
  }

  /** Adds a text of the assistant. */
  answer({ blocks, refusal }: Content): void {
    const open = this.#answer;
    const isTaken = open !== undefined && open.calls.length === 0 && hasContent(open);
    const entry = this.#joined(isTaken ? undefined : open);
    entry.blocks.push(...blocks);
    entry.refusal += refusal;
  }

  thoughts(thoughts: Thoughts, path: string): void {
    // What belongs to a text came after it.
    if (thoughts.extra !== undefined && this.#answer !== undefined)
      this.#answer.extra = thoughts.extra;
    this.#waiting.push({ path, thoughts });
  }

  call(call: Call): void {
    const entry = this.#joined(this.#answer);
    entry.calls.push(call);
    this.#byCall.set(call.id, entry);
  }

  /** Adds the result of a call. Throws `invalid_field` without that call. */
  result(id: string, blocks: readonly JsonObject[], path: string): void {
    const entry = this.#byCall.get(id);
    if (entry === undefined)
      throw refused(
        `${path}.call_id`,
        `${path} is the output of the call ${shown(id)}, which input does not hold. Send the full history.`,
      );
    this.#endAnswer();
    const { text, media } = divided(blocks);
    const note = media.length === 0 ? text : `${text}\n[Media in the next message.]`.trimStart();
    entry.results.push({ role: "tool", tool_call_id: id, content: note });
    if (media.length > 0)
      entry.media.push({ type: "text", text: `Media of the call ${id}:` }, ...media);
  }

  /** Ends the conversation: its messages and deployments are known. */
  *end(clock: Stages.Clock): Stages.Of<void> {
    this.#endAnswer();
    const messages: JsonObject[] = [];
    for (const entry of this.#entries) {
      if (clock.isOver()) yield;
      if (entry.message !== undefined) {
        messages.push(entry.message);
        continue;
      }
      messages.push(...answerOf(entry, this.#thoughtsOf));
      for (const result of entry.results) messages.push(result);
      if (entry.media.length > 0) messages.push({ role: "user", content: entry.media });
    }
    this.messages = messages;
  }

  /** The deployments whose sealed thoughts the messages hold; `thoughts_of` names one by index. */
  get thoughtsOf(): readonly string[] {
    return this.#thoughtsOf;
  }

  #joined(open: Entry | undefined): Entry {
    const entry = open ?? newEntry();
    if (open === undefined) this.#entries.push(entry);
    this.#answer = entry;
    entry.thoughts.push(...this.#waiting.map(({ thoughts }) => thoughts));
    this.#waiting = [];
    return entry;
  }

  #endAnswer(): void {
    if (this.#answer === undefined) this.#notes.drop(...this.#waiting.map(({ path }) => path));
    else this.#answer.thoughts.push(...this.#waiting.map(({ thoughts }) => thoughts));
    this.#waiting = [];
    this.#answer = undefined;
  }
}

function newEntry(): Entry {
  return {
    blocks: [],
    refusal: "",
    thoughts: [],
    extra: undefined,
    calls: [],
    results: [],
    media: [],
  };
}

function hasContent({ blocks, refusal }: Entry): boolean {
  return blocks.length > 0 || refusal !== "";
}

/**
 * The message of an answer, in a list; an empty list for an answer without content. Thoughts of
 * several deployments do not go together: those of the last one stay.
 */
function answerOf(entry: Entry, thoughtsOf: string[]): readonly JsonObject[] {
  const { blocks, refusal, thoughts: all, calls, extra } = entry;
  if (!hasContent(entry) && calls.length === 0) return [];
  if (all.length === 0 && calls.length === 0 && refusal === "" && extra === undefined)
    return [{ role: "assistant", content: plain(blocks) }];
  const deployment = all.findLast((each) => each.deployment !== undefined)?.deployment;
  const thoughts = all.filter((each) => (each.deployment ?? deployment) === deployment);
  if (deployment !== undefined && thoughtsOf.at(-1) !== deployment) thoughtsOf.push(deployment);
  const reasoning = thoughts
    .map(readable)
    .filter((text) => text !== "")
    .join("\n\n");
  const signed = thoughts.flatMap((each) => each.blocks);
  const extras = new Map(thoughts.flatMap((each) => [...each.calls]));
  return [
    {
      role: "assistant",
      content: blocks.length === 0 ? null : plain(blocks),
      ...(refusal === "" ? {} : { refusal }),
      ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
      ...(signed.length === 0 ? {} : { thinking_blocks: signed }),
      ...(calls.length === 0 ? {} : { tool_calls: calls.map((call) => callOf(call, extras)) }),
      ...(extra === undefined ? {} : { extra_content: extra }),
      ...(deployment === undefined ? {} : { thoughts_of: thoughtsOf.length - 1 }),
    },
  ];
}

function callOf({ id, flat, arguments: text }: Call, extras: Map<string, JsonObject>): JsonObject {
  const extra = extras.get(id);
  return {
    id,
    type: "function",
    function: { name: flat, arguments: text },
    ...(extra === undefined ? {} : { extra_content: extra }),
  };
}

/** The readable part of thoughts. */
function readable({ text, blocks }: Thoughts): string {
  if (text !== undefined) return text;
  return blocks
    .flatMap(({ thinking }) => (typeof thinking === "string" && thinking !== "" ? [thinking] : []))
    .join("");
}
