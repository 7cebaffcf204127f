/**
 * Repairs replies and chunks of nearly compatible upstreams: thoughts under another name, calls
 * without ids, own finish reasons and usages. A complete value stays the same object.
 */

import { GatewayError, type JsonDocument, type JsonObject, type JsonValue } from "@sluice/contract";
import { isObject } from "../../json/narrow.ts";
import { ExactValues } from "../../json/numbers/exact.ts";
import { readEmbeddedError } from "../errors.ts";
import { readUsage } from "../usage.ts";
import { BegunCalls } from "./begun-calls.ts";

/**
 * An upstream's own finish reasons and the dialect's names for them; `overloaded` is a failure.
 * Unlisted ones become `stop`.
 */
export type OwnFinishReasons = Readonly<
  Record<string, "stop" | "length" | "tool_calls" | "content_filter" | "overloaded">
>;

const REASONS = new Set(["stop", "length", "tool_calls", "content_filter", "function_call"]);

/**
 * Repairs the choices of one reply: names of thoughts, ids of calls, finish reasons. One instance
 * for each reply, whole or streamed.
 */
export class ChunkRepairer {
  readonly #reasons: OwnFinishReasons;
  readonly #callPrefix: string;
  /** The calls so far, by choice. */
  readonly #calls = new Map<JsonValue | undefined, BegunCalls>();
  /** The values of the reply or the chunk that is repaired: its text is read again once at most. */
  #exact: ExactValues | undefined;

  constructor(reasons: OwnFinishReasons, replyId: string) {
    this.#reasons = reasons;
    this.#callPrefix = `call_${replyId.replaceAll(/[^A-Za-z0-9]/g, "").slice(-20)}`;
  }

  /** A reply or a chunk; the same object when it is complete. Throws the failure of a choice. */
  repair(document: Pick<JsonDocument, "value" | "bytes">): JsonObject {
    const { value } = document;
    const { choices } = value;
    this.#exact = new ExactValues(document);
    if (!Array.isArray(choices) || isObject(value.error)) return value;
    const repaired = choices.map((choice: JsonValue) =>
      isObject(choice) ? this.#choice(choice) : choice,
    );
    const usage = repairUsage(
      value.usage ?? (isObject(value.x_groq) ? value.x_groq.usage : undefined),
    );
    const isComplete =
      repaired.every((choice, index) => choice === choices[index]) && usage === value.usage;
    return isComplete
      ? value
      : { ...value, choices: repaired, ...(usage === undefined ? {} : { usage }) };
  }

  #choice(choice: JsonObject): JsonObject {
    if (isObject(choice.error)) throw readEmbeddedError(choice.error);
    const part = isObject(choice.delta) ? "delta" : "message";
    const said = choice[part];
    const repaired = isObject(said) ? this.#message(said, choice.index, part === "delta") : said;
    const finish =
      this.#finish(choice) ?? (part === "message" ? this.#inferred(choice) : undefined);
    return repaired === said && finish === undefined
      ? choice
      : { ...choice, ...(repaired === undefined ? {} : { [part]: repaired }), ...finish };
  }

  #message(said: JsonObject, choice: JsonValue | undefined, isDelta: boolean): JsonObject {
    let repaired = said;
    // Groq, OpenRouter, Together, Ollama and newer vLLM send `reasoning`; the gateway has one name
    // for it.
    if (typeof said.reasoning === "string" && said.reasoning_content === undefined) {
      const { reasoning, ...rest } = said;
      repaired = { ...rest, reasoning_content: reasoning };
    }
    const { tool_calls: calls } = said;
    if (!Array.isArray(calls)) return repaired;
    const identified = calls.map((call: JsonValue) =>
      isObject(call) ? this.#call(call, choice, isDelta) : call,
    );
    return identified.every((call, index) => call === calls[index])
      ? repaired
      : { ...repaired, tool_calls: identified };
  }

  /**
   * A whole call without an id (Ollama), or with another id under a used index (Gemini's layer,
   * older Ollama), is a new call. An id that a server repeats in every delta would begin the call
   * again, so it is removed.
   */
  #call(call: JsonObject, choice: JsonValue | undefined, isDelta: boolean): JsonObject {
    const begun = this.#calls.get(choice) ?? new BegunCalls();
    this.#calls.set(choice, begun);
    const made = isObject(call.function) ? call.function : {};
    const id = typeof call.id === "string" && call.id !== "" ? call.id : undefined;
    const isNamed = typeof made.name === "string" && made.name !== "";
    const given = typeof call.index === "number" ? call.index : undefined;
    const known = isDelta && given !== undefined ? begun.idOf(given) : undefined;
    const isNew =
      known === undefined
        ? isNamed || id !== undefined
        : isNamed && id !== undefined && id !== known;
    const index = isNew
      ? known === undefined
        ? (given ?? begun.next)
        : begun.next
      : (given ?? begun.last);
    if (isNew) begun.begin(index, id ?? `${this.#callPrefix}_${index}`);
    const hasText =
      typeof made.arguments === "string" || (!isNew && isDelta && made.arguments === undefined);
    const isComplete =
      hasText &&
      (isNew ? id !== undefined && call.type === "function" : id === undefined) &&
      (!isDelta || given === index);
    if (isComplete) return call;
    const { id: _id, index: _index, type: _type, ...rest } = call;
    return {
      ...(isDelta ? { index } : {}),
      ...(isNew ? { id: begun.idOf(index) ?? "", type: "function" } : {}),
      ...rest,
      function: hasText
        ? made
        : {
            ...made,
            arguments: made.arguments === undefined && isDelta ? "" : this.#text(made.arguments),
          },
    };
  }

  /** Arguments that a server sends as an object. */
  #text(given: JsonValue | undefined): string {
    const value = given ?? {};
    return this.#exact?.written(value) ?? JSON.stringify(value);
  }

  #hasCalls({ index }: JsonObject): boolean {
    return this.#calls.get(index)?.isEmpty === false;
  }

  /** The finish reason of a whole reply without one. The choice is marked as inferred. */
  #inferred(choice: JsonObject): JsonObject | undefined {
    if (typeof choice.finish_reason === "string") return undefined;
    const hasCalls = this.#hasCalls(choice);
    return { finish_reason: hasCalls ? "tool_calls" : "stop", finish_reason_inferred: true };
  }

  /**
   * The finish reason by the dialect's name, where it differs; the provider's own name stays beside
   * it.
   */
  #finish(choice: JsonObject): JsonObject | undefined {
    const { finish_reason: native } = choice;
    if (typeof native !== "string") return undefined;
    const known = Object.hasOwn(this.#reasons, native) ? this.#reasons[native] : undefined;
    if (known === "overloaded")
      throw new GatewayError(
        "upstream_overloaded",
        `The upstream ended the reply early: ${native}.`,
      );
    const word = REASONS.has(native) ? native : (known ?? "stop");
    const reason = word === "stop" && this.#hasCalls(choice) ? "tool_calls" : word;
    return reason === native
      ? undefined
      : { finish_reason: reason, native_finish_reason: choice.native_finish_reason ?? native };
  }
}

/** A usage whose totals count what the dialect's totals count. The provider's own members stay. */
function repairUsage(usage: JsonValue | undefined): JsonValue | undefined {
  const read = readUsage(usage);
  if (read === undefined || !isObject(usage)) return usage;
  const totals = {
    prompt_tokens: read.promptTokens,
    completion_tokens: read.completionTokens,
    total_tokens: read.totalTokens,
  };
  const details = {
    ...detail("prompt_tokens_details", "cached_tokens", read.cachedTokens, usage),
    ...detail("completion_tokens_details", "reasoning_tokens", read.reasoningTokens, usage),
  };
  const isComplete =
    Object.entries(totals).every(([name, count]) => usage[name] === count) &&
    Object.keys(details).length === 0;
  return isComplete ? usage : { ...usage, ...totals, ...details };
}

function detail(
  name: string,
  key: string,
  count: number | undefined,
  usage: JsonObject,
): JsonObject {
  const given = isObject(usage[name]) ? usage[name] : {};
  return count === undefined || given[key] === count ? {} : { [name]: { ...given, [key]: count } };
}
