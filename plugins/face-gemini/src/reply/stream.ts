/**
 * Streams: each event is a reply of its own, without a name, and none marks the end. Calls are sent
 * whole, so they and the finish reason wait for the end, where the usage is known.
 */

import type { FaceContext, FaceStream, GatewayError, JsonObject } from "@sluice/contract";
import { isObject } from "@sluice/kit";
import { Members, Reference } from "@sluice/kit/dialect";
import { finishOf, logprobsOf, sourcesOf, tokensOf } from "./candidate.ts";
import { errorBody } from "./errors.ts";
import { callParts, type GatheredCall, otherParts, textPart, thoughtPart } from "./parts.ts";
import type { State } from "../request/read.ts";
import { keepMembers, type KeptMembers, signatureIn } from "../signatures.ts";
import { usageMetadata } from "./usage.ts";

/** The end of an event, as the API writes it. */
const END = "\r\n\r\n";

/** A candidate so far. */
interface Candidate {
  readonly index: number;
  /** Its calls by index. */
  readonly calls: Map<number, GatheredCall>;
  readonly tokens: JsonObject[];
  kept: KeptMembers | undefined;
  /** Members beside the content. */
  others: JsonObject;
}

/** Writes the events of one reply. */
export class EventStream implements FaceStream {
  readonly #state: State;
  readonly #context: FaceContext;
  readonly #candidates = new Map<number, Candidate>();
  /** The members after the candidates of each event, as JSON text. */
  readonly #tail: string;
  readonly #kept = new Reference.KeptOfStream();
  #usage: JsonObject | undefined;

  constructor(state: State, context: FaceContext) {
    const { model, requestId } = context;
    this.#state = state;
    this.#context = context;
    this.#tail = `"modelVersion":${JSON.stringify(model)},"responseId":${JSON.stringify(requestId)}}${END}`;
  }

  chunk(chunk: JsonObject): string {
    this.#usage = usageMetadata(chunk.usage) ?? this.#usage;
    const { choices } = chunk;
    if (!Array.isArray(choices)) return "";
    let text = "";
    for (const choice of choices) if (isObject(choice)) text += this.#choice(choice);
    return text;
  }

  texts(contents: readonly string[]): string {
    const tail = `"}],"role":"model"},"index":0}],${this.#tail}`;
    let text = "";
    for (const content of contents)
      if (content !== "")
        text += `data: {"candidates":[{"content":{"parts":[{"text":"${content}${tail}`;
    return text;
  }

  end(): string {
    if (this.#candidates.size === 0) this.#candidate(0);
    const candidates = [...this.#candidates.values()].map((candidate) => {
      const parts = callParts(ordered(candidate.calls), candidate.kept, this.#state);
      return {
        content: { parts: parts.length === 0 ? [textPart("")] : parts, role: "model" },
        ...candidate.others,
        index: candidate.index,
        ...logprobsOf(candidate.tokens),
      };
    });
    const usage = this.#usage === undefined ? {} : { usageMetadata: this.#usage };
    const head = JSON.stringify({ candidates, ...usage });
    return `data: ${head.slice(0, -1)},${this.#tail}`;
  }

  /** An event: the SDK knows a failed stream by it since version 3, with any events before it. */
  failure(error: GatewayError): string {
    return `data: ${this.failureAlone(error)}${END}`;
  }

  /** Without `data:`: older versions know a failed stream by a read that is this JSON. */
  failureAlone(error: GatewayError): string {
    return JSON.stringify(errorBody(error, this.#context.requestId));
  }

  #choice(choice: JsonObject): string {
    const index = typeof choice.index === "number" ? choice.index : 0;
    const candidate = this.#candidate(index);
    if (typeof choice.finish_reason === "string")
      candidate.others = { ...candidate.others, ...finishOf(choice) };
    if (isObject(choice.logprobs))
      for (const token of tokensOf(choice)) {
        this.#kept.logprobs(1 + Members.objectsOf(token.top_logprobs).length);
        candidate.tokens.push(token);
      }
    const { delta } = choice;
    return isObject(delta) ? this.#delta(delta, candidate) : "";
  }

  #delta(delta: JsonObject, candidate: Candidate): string {
    const { content, refusal, reasoning_content: thought } = delta;
    let events = "";
    if (this.#state.includesThoughts && typeof thought === "string" && thought !== "")
      events += this.#event([thoughtPart(thought)], candidate.index);
    for (const text of [content, refusal])
      if (typeof text === "string" && text !== "")
        events += this.#event([textPart(text)], candidate.index);
    return isText(delta) ? events : events + this.#others(delta, candidate);
  }

  /** What is in a delta beside text. */
  #others(delta: JsonObject, candidate: Candidate): string {
    candidate.kept = keepMembers(candidate.kept, delta);
    candidate.others = { ...candidate.others, ...sourcesOf(delta) };
    for (const [position, call] of Members.objectsOf(delta.tool_calls).entries())
      this.#gather(candidate.calls, call, position);
    const signature = signatureIn(delta);
    const parts = [
      ...(signature === undefined ? [] : [textPart("", signature)]),
      ...otherParts(delta),
    ];
    return parts.length === 0 ? "" : this.#event(parts, candidate.index);
  }

  #event(parts: readonly JsonObject[], index: number): string {
    return `data: {"candidates":[{"content":{"parts":${JSON.stringify(parts)},"role":"model"},"index":${index}}],${this.#tail}`;
  }

  /** Adds a piece of a call. `position`: its place in the delta. */
  #gather(calls: Map<number, GatheredCall>, piece: JsonObject, position: number): void {
    const index = typeof piece.index === "number" ? piece.index : position;
    let call = calls.get(index);
    if (call === undefined) {
      this.#kept.call();
      call = { id: undefined, name: "", arguments: "", signature: undefined };
      calls.set(index, call);
    }
    addPiece(call, piece);
  }

  #candidate(index: number): Candidate {
    const known = this.#candidates.get(index);
    if (known !== undefined) return known;
    this.#kept.choice();
    const made: Candidate = { index, calls: new Map(), tokens: [], kept: undefined, others: {} };
    this.#candidates.set(index, made);
    return made;
  }
}

/** Whether a delta has nothing but texts: most have one. */
function isText(delta: JsonObject): boolean {
  for (const name in delta)
    if (name !== "content" && name !== "role" && name !== "reasoning_content" && name !== "refusal")
      return false;
  return true;
}

/** Calls in the order of their indexes. An upstream may send any number as an index. */
function ordered(calls: ReadonlyMap<number, GatheredCall>): readonly GatheredCall[] {
  return [...calls].toSorted(([a], [b]) => a - b).map(([, call]) => call);
}

/** Adds a piece of a call: the first one has id and name. */
function addPiece(call: GatheredCall, piece: JsonObject): void {
  const made = isObject(piece.function) ? piece.function : {};
  call.id = Members.textIn(piece.id) ?? call.id;
  call.name = Members.textIn(made.name) ?? call.name;
  call.arguments += Members.textIn(made.arguments) ?? "";
  call.signature = signatureIn(piece) ?? call.signature;
}
