/**
 * Adds the members that nearly compatible upstreams leave out of a stream: the same id, created and
 * model in every chunk, the role in the first delta of each choice, and an index in every tool
 * delta.
 */

import type { JsonObject, JsonValue, ProviderRequest } from "@sluice/contract";
import { replaceMember } from "../../json/document.ts";
import { isObject } from "../../json/narrow.ts";

/** The identity of a reply, for members that the upstream leaves out. */
export type ReplyIdentity = Pick<ProviderRequest, "replyId" | "createdSeconds"> &
  Partial<Pick<ProviderRequest, "document">>;

/**
 * Repairs the chunks of one stream. While no member is missing, it only changes the model's name in
 * the text. Without an identity it does nothing else.
 */
export class ChunkRepair {
  readonly #model: string;
  readonly #identity: ReplyIdentity | undefined;
  readonly #modelMember: Expected;
  #id: Expected | undefined;
  #created: Expected | undefined;
  /** The first chunk lacked a member: all further chunks are parsed. */
  #isIncomplete = false;
  #areToolsIndexed = false;
  readonly #roles = new Set<JsonValue | undefined>();
  #tools: Map<JsonValue | undefined, number> | undefined;

  constructor(model: string, identity: ReplyIdentity | undefined) {
    this.#model = model;
    this.#identity = identity;
    this.#modelMember = expected("model", model);
  }

  /** The text with the model, id and created of the stream. Every other character stays. */
  text(data: string): string {
    // The model comes last: it usually changes, and a concatenated text is slow to search.
    let text = data;
    if (this.#id !== undefined) text = withMember(text, this.#id);
    if (this.#created !== undefined) text = withMember(text, this.#created);
    return withMember(text, this.#modelMember);
  }

  /** Whether a chunk must be parsed although its text looks complete. */
  isSuspect(text: string): boolean {
    if (this.#isIncomplete) return true;
    // The pattern omits its first quote: a search for a rarer character is faster.
    if (this.#identity === undefined || this.#areToolsIndexed || !text.includes('tool_calls"'))
      return false;
    return !text.includes('"tool_calls":[]') && !text.includes('"tool_calls":null');
  }

  /** The chunk with the missing members; the same object if it is complete. */
  chunk(chunk: JsonObject): JsonObject {
    if (this.#identity === undefined) return chunk;
    const named = this.#named(chunk, this.#identity);
    const { choices } = named;
    if (!Array.isArray(choices)) return named;
    const repaired = choices.map((choice: JsonValue) => this.#choice(choice));
    return repaired.every((choice, index) => choice === choices[index])
      ? named
      : { ...named, choices: repaired };
  }

  #named(chunk: JsonObject, identity: ReplyIdentity): JsonObject {
    const { id, object, created, model } = chunk;
    if (this.#id === undefined) {
      this.#id = expected("id", typeof id === "string" && id !== "" ? id : identity.replyId);
      this.#created = expected(
        "created",
        typeof created === "number" && created > 0 ? created : identity.createdSeconds,
      );
      this.#isIncomplete = [id, object, created, model].some((member) => member === undefined);
    }
    const wanted = {
      id: this.#id?.value ?? id,
      object: typeof object === "string" && object !== "" ? object : "chat.completion.chunk",
      created: this.#created?.value ?? created,
      model: this.#model,
    };
    const isWell =
      id === wanted.id &&
      object === wanted.object &&
      created === wanted.created &&
      model === wanted.model;
    return isWell ? chunk : { ...wanted, ...chunk, ...wanted };
  }

  #choice(choice: JsonValue): JsonValue {
    if (!isObject(choice) || !isObject(choice.delta)) return choice;
    let { delta } = choice;
    // An empty delta does not count as the first one: the role would come twice.
    if (
      !this.#roles.has(choice.index) &&
      (typeof choice.finish_reason === "string" || Object.keys(delta).length > 0)
    ) {
      this.#roles.add(choice.index);
      if (typeof delta.role !== "string")
        delta = {
          role: "assistant",
          ...delta,
          ...(delta.role === null ? { role: "assistant" } : {}),
        };
    }
    const calls = delta.tool_calls;
    if (Array.isArray(calls) && calls.length > 0) {
      if (calls.every((call: JsonValue) => isObject(call) && typeof call.index === "number"))
        this.#areToolsIndexed = true;
      else
        delta = {
          ...delta,
          tool_calls: calls.map((call: JsonValue) => this.#indexed(choice.index, call)),
        };
    }
    return delta === choice.delta ? choice : { ...choice, delta };
  }

  /**
   * A tool delta with an index. A delta with an id begins a call; one without an id continues the
   * last call.
   */
  #indexed(choice: JsonValue | undefined, call: JsonValue): JsonValue {
    if (!isObject(call) || typeof call.index === "number") return call;
    const last = this.#tools?.get(choice) ?? -1;
    const index = typeof call.id === "string" && call.id !== "" ? last + 1 : Math.max(0, last);
    (this.#tools ??= new Map()).set(choice, index);
    return { index, ...call };
  }
}

/** A member in its usual text form, and its value. */
interface Expected {
  readonly name: string;
  readonly value: string | number;
  readonly json: string;
  readonly text: string;
  /**
   * Its last offset: chunks of one stream begin alike, and one comparison is faster than a search.
   */
  at: number;
}

function expected(name: string, value: string | number): Expected {
  const json = JSON.stringify(value);
  return { name, value, json, text: `"${name}":${json}`, at: 0 };
}

function withMember(text: string, member: Expected): string {
  if (text.startsWith(member.text, member.at)) return text;
  const at = text.indexOf(member.text);
  if (at < 0) return replaceMember(text, member.name, member.json);
  member.at = at;
  return text;
}
