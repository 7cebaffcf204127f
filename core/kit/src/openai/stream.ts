/** Translates streams of the reference dialect, with minimal changes. */

import {
  type Frame,
  GatewayError,
  type JsonObject,
  type StreamSink,
  type StreamTranslator,
  type UpstreamEvent,
} from "@sluice/contract";
import { isObject } from "../json/narrow.ts";
import { parseJson } from "../json/parse.ts";
import { ChunkRepair, type ReplyIdentity } from "./repair/chunk-repair.ts";
import { readEmbeddedError } from "./errors.ts";
import { RecentFrames } from "./repair/recent-frames.ts";
import { asksForUsage, NULL_USAGE, withoutNullUsage, withoutUsage } from "./unasked-usage.ts";
import { readUsage } from "./usage.ts";

/** A frame with a known text; the object is parsed on first use. */
export function rawFrame(raw: string): Frame {
  return new RawFrame(raw);
}

/** A frame made from an object. */
export function chunkFrame(chunk: JsonObject): Frame {
  return { raw: undefined, chunk: () => chunk };
}

/** Maximum invalid events of one stream. They are left out and counted; more are refused. */
const MAX_ODD_EVENTS = 3;

class RawFrame implements Frame {
  readonly raw: string;
  #chunk: JsonObject | undefined;

  constructor(raw: string) {
    this.raw = raw;
  }

  chunk(): JsonObject {
    this.#chunk ??= parseJson(this.raw) as JsonObject;
    return this.#chunk;
  }
}

/**
 * A translator for an upstream that speaks the reference dialect. An event is parsed only before
 * the reply is committed, or when its text shows a usage, an error, a cut or a fault. Every other
 * event keeps its text except the model's name. `identity` supplies the members that the upstream
 * leaves out.
 */
export function createChatTranslator(
  replyModel: string,
  identity?: ReplyIdentity,
): StreamTranslator {
  return new ChatTranslator(replyModel, identity);
}

class ChatTranslator implements StreamTranslator {
  readonly #repair: ChunkRepair;
  readonly #hasIdentity: boolean;
  /** The gateway asks every upstream for the usage, and removes it for other clients. */
  readonly #isUsageAsked: boolean;
  readonly #recent = new RecentFrames();
  #oddEvents = 0;

  constructor(replyModel: string, identity: ReplyIdentity | undefined) {
    this.#repair = new ChunkRepair(replyModel, identity);
    this.#hasIdentity = identity !== undefined;
    this.#isUsageAsked = asksForUsage(identity?.document);
  }

  event({ event, data }: UpstreamEvent, sink: StreamSink): void {
    if (data === "[DONE]") {
      this.#done(sink);
      return;
    }
    const mentionsUsage = data.includes('usage"');
    const isNullUsage = mentionsUsage && data.includes(NULL_USAGE);
    const text = this.#repair.text(data);
    const frame = rawFrame(isNullUsage && !this.#isUsageAsked ? withoutNullUsage(text) : text);
    // Inside a string these names would have a backslash before their quote. The pattern omits the
    // first quote, because a search for a rarer character is faster.
    const isTelling =
      event === "error" || (mentionsUsage && !isNullUsage) || data.includes('error"');
    // A cut event lacks its closing brace. Two characters are compared before the text is parsed.
    const isWhole = data.startsWith("{") && data.endsWith("}");
    const isPlain = !isTelling && isWhole && !this.#repair.isSuspect(data);
    if (sink.committed && isPlain) {
      sink.frame(frame, "content");
      this.#recent.add(frame);
      if (sink.takesForm === true) declareForm(frame, sink);
      return;
    }
    const chunk = parse(frame);
    if (chunk !== undefined && !hasOddChoice(chunk)) {
      this.#chunk(chunk, frame, event, sink);
      // The first content: the events behind it are mostly alike.
      if (isPlain && sink.takesForm === true) declareForm(frame, sink);
      // An empty text carries no data: some upstreams send it as a heartbeat.
    } else if (data !== "") this.#drop(sink);
  }

  repeated(last: Frame, count: number): void {
    this.#recent.repeat(last, count);
  }

  /** Ends the stream. A missing finish reason is written before. */
  #done(sink: StreamSink): void {
    const end = this.#hasIdentity && sink.committed ? this.#recent.missingFinish() : undefined;
    if (end !== undefined) sink.frame(chunkFrame(end), "content");
    sink.done();
  }

  /** Reads and repairs a parsed chunk. Throws the error that it carries. */
  #chunk(chunk: JsonObject, frame: Frame, event: string | undefined, sink: StreamSink): void {
    const error = errorOf(chunk, event);
    if (error !== undefined) throw readEmbeddedError(error);
    const usage = readUsage(chunk.usage, chunk.service_tier);
    if (usage !== undefined) sink.usage(usage);
    const isUsageOnly =
      usage !== undefined && Array.isArray(chunk.choices) && chunk.choices.length === 0;
    const whole = this.#repair.chunk(chunk);
    const repaired = isUsageOnly || this.#isUsageAsked ? whole : withoutUsage(whole);
    const made = repaired === chunk ? frame : chunkFrame(repaired);
    if (!isUsageOnly) this.#recent.add(made);
    sink.frame(made, isUsageOnly ? "usage" : hasContent(chunk) ? "content" : "preamble");
  }

  #drop(sink: StreamSink): void {
    if (++this.#oddEvents > MAX_ODD_EVENTS) {
      throw new GatewayError(
        "upstream_invalid_response",
        "The upstream's stream has events that are not chunks of a reply.",
      );
    }
    sink.dropped?.();
  }
}

/** Texts of a delta that come in pieces. */
const PIECES = ["content", "reasoning_content"];

/**
 * A chunk with one choice whose delta has one text depends on nothing but the text, and on the
 * padding that some upstreams add.
 */
function declareForm(frame: Frame, sink: StreamSink): void {
  const { choices, obfuscation } = parse(frame) ?? {};
  const choice: unknown = Array.isArray(choices) && choices.length === 1 ? choices[0] : undefined;
  if (!isObject(choice) || !isObject(choice.delta) || typeof choice.finish_reason === "string")
    return;
  const { delta } = choice;
  const [name, ...others] = PIECES.filter(
    (member) => typeof delta[member] === "string" && delta[member] !== "",
  );
  if (name === undefined || others.length > 0 || delta.tool_calls !== undefined) return;
  const text = ["choices", 0, "delta", name];
  sink.form?.({ texts: typeof obfuscation === "string" ? [text, ["obfuscation"]] : [text] });
}

/** Whether a chunk has a part of the answer: more than a role, an empty text or a filter report. */
export function hasContent(chunk: JsonObject): boolean {
  const choices = Array.isArray(chunk.choices) ? chunk.choices : [];
  return choices.some(
    (choice) =>
      isObject(choice) && (typeof choice.finish_reason === "string" || hasDelta(choice.delta)),
  );
}

function hasDelta(delta: unknown): boolean {
  if (!isObject(delta)) return false;
  return Object.entries(delta).some(
    ([name, value]) => name !== "role" && value !== null && value !== "" && !isEmptyList(value),
  );
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

/** Whether a choice is not an object, so that the client cannot read it. */
function hasOddChoice({ choices }: JsonObject): boolean {
  return Array.isArray(choices) && !choices.every((choice) => isObject(choice));
}

/** The object of an event; `undefined` for any other text. */
function parse(frame: Frame): JsonObject | undefined {
  try {
    const chunk: unknown = frame.chunk();
    return isObject(chunk) ? chunk : undefined;
  } catch {
    return undefined;
  }
}

/** The error of an event. Some upstreams signal it by the event's name or a bare text alone. */
function errorOf(chunk: JsonObject, event: string | undefined): JsonObject | undefined {
  const { error } = chunk;
  if (isObject(error)) return error;
  if (typeof error === "string") return { message: error };
  return event === "error" ? chunk : undefined;
}
