/**
 * What upstreams that speak the reference dialect almost leave out of a stream: the client reads the same id, created and
 * model in every chunk, the role in the first delta of each choice, and an index in every tool delta.
 */

import type { JsonObject, JsonValue, ProviderRequest } from "@sluice/spec";
import { replaceMember } from "../json/document.ts";
import { isObject } from "../json/narrow.ts";

/** What a reply says of itself where the upstream does not. */
export type ReplyIdentity = Pick<ProviderRequest, "replyId" | "createdSeconds"> & Partial<Pick<ProviderRequest, "document">>;

/**
 * Repairs the chunks of one stream. As long as nothing is missing it changes the model's name in the text, and no more;
 * without an identity it never does more.
 */
export class ChunkRepair {
  readonly #model: string;
  readonly #identity: ReplyIdentity | undefined;
  readonly #modelMember: Expected;
  #id: Expected | undefined;
  #created: Expected | undefined;
  /** The first chunk lacked a member: every other one is looked into. */
  #isIncomplete = false;
  #areToolsIndexed = false;
  readonly #roles = new Set<JsonValue | undefined>();
  readonly #tools = new Map<JsonValue | undefined, number>();

  constructor(model: string, identity: ReplyIdentity | undefined) {
    this.#model = model;
    this.#identity = identity;
    this.#modelMember = expected("model", model);
  }

  /** The text with the model, id and created of the stream. Every other character stays. */
  text(data: string): string {
    // The model comes last: it is what usually changes, and a text that was put together is slow to search.
    let text = data;
    if (this.#id !== undefined) text = withMember(text, this.#id);
    if (this.#created !== undefined) text = withMember(text, this.#created);
    return withMember(text, this.#modelMember);
  }

  /** Whether a chunk must be looked into although its text, as it came, is well. */
  isSuspect(text: string): boolean {
    if (this.#isIncomplete) return true;
    // Without its first quote: a search for a character that is rarer than a quote is faster.
    if (this.#identity === undefined || this.#areToolsIndexed || !text.includes('tool_calls"')) return false;
    return !text.includes('"tool_calls":[]') && !text.includes('"tool_calls":null');
  }

  /** The chunk with what it lacks; the same object when it lacks nothing. */
  chunk(chunk: JsonObject): JsonObject {
    if (this.#identity === undefined) return chunk;
    const named = this.#named(chunk, this.#identity);
    const { choices } = named;
    if (!Array.isArray(choices)) return named;
    const repaired = choices.map((choice: JsonValue) => this.#choice(choice));
    return repaired.every((choice, index) => choice === choices[index]) ? named : { ...named, choices: repaired };
  }

  #named(chunk: JsonObject, identity: ReplyIdentity): JsonObject {
    const { id, object, created, model } = chunk;
    if (this.#id === undefined) {
      this.#id = expected("id", typeof id === "string" && id !== "" ? id : identity.replyId);
      this.#created = expected("created", typeof created === "number" && created > 0 ? created : identity.createdSeconds);
      this.#isIncomplete = [id, object, created, model].some((member) => member === undefined);
    }
    const wanted = {
      id: this.#id?.value ?? id,
      object: typeof object === "string" && object !== "" ? object : "chat.completion.chunk",
      created: this.#created?.value ?? created,
      model: this.#model,
    };
    const isWell = id === wanted.id && object === wanted.object && created === wanted.created && model === wanted.model;
    return isWell ? chunk : { ...wanted, ...chunk, ...wanted };
  }

  #choice(choice: JsonValue): JsonValue {
    if (!isObject(choice) || !isObject(choice.delta)) return choice;
    let { delta } = choice;
    // A delta that says nothing is no first one: the role would come twice.
    if (!this.#roles.has(choice.index) && (typeof choice.finish_reason === "string" || Object.keys(delta).length > 0)) {
      this.#roles.add(choice.index);
      if (typeof delta.role !== "string")
        delta = { role: "assistant", ...delta, ...(delta.role === null ? { role: "assistant" } : {}) };
    }
    const calls = delta.tool_calls;
    if (Array.isArray(calls) && calls.length > 0) {
      if (calls.every((call: JsonValue) => isObject(call) && typeof call.index === "number")) this.#areToolsIndexed = true;
      else delta = { ...delta, tool_calls: calls.map((call: JsonValue) => this.#indexed(choice.index, call)) };
    }
    return delta === choice.delta ? choice : { ...choice, delta };
  }

  /** A tool delta with an index: one with an id begins a call, one without goes on with the last. */
  #indexed(choice: JsonValue | undefined, call: JsonValue): JsonValue {
    if (!isObject(call) || typeof call.index === "number") return call;
    const last = this.#tools.get(choice) ?? -1;
    const index = typeof call.id === "string" && call.id !== "" ? last + 1 : Math.max(0, last);
    this.#tools.set(choice, index);
    return { index, ...call };
  }
}

/** A member as it usually stands in the text, and its value. */
interface Expected {
  readonly name: string;
  readonly value: string | number;
  readonly json: string;
  readonly text: string;
  /** Where it stood last: chunks of one stream begin alike, and one comparison is faster than a search. */
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
