/** Translates streams of the reference dialect: hardly at all. */

import {
  type Frame,
  GatewayError,
  type JsonObject,
  type StreamSink,
  type StreamTranslator,
  type UpstreamEvent,
} from "@sluice/spec";
import { isObject } from "../json/narrow.ts";
import { ChunkRepair, type ReplyIdentity } from "./chunk-repair.ts";
import { readEmbeddedError } from "./errors.ts";
import { RecentFrames } from "./recent-frames.ts";
import { asksForUsage, NULL_USAGE, withoutNullUsage, withoutUsage } from "./unasked-usage.ts";
import { readUsage } from "./usage.ts";

/** A frame whose text is known; the object is parsed on first use. */
export function rawFrame(raw: string): Frame {
  return new RawFrame(raw);
}

/** A frame made from an object. */
export function chunkFrame(chunk: JsonObject): Frame {
  return { raw: undefined, chunk: () => chunk };
}

/** Events of one stream that may be no chunk. They are left out and counted; more of them are a stream of something else. */
const MAX_ODD_EVENTS = 3;

class RawFrame implements Frame {
  readonly raw: string;
  #chunk: JsonObject | undefined;

  constructor(raw: string) {
    this.raw = raw;
  }

  chunk(): JsonObject {
    this.#chunk ??= JSON.parse(this.raw) as JsonObject;
    return this.#chunk;
  }
}

/**
 * A translator for an upstream that speaks the reference dialect. An event is looked into only while nothing is committed,
 * or when its text shows a usage, an error, a cut or a fault of the dialect; every other event keeps its text, but for the
 * model's name. `identity` is what the chunks say where the upstream says nothing.
 */
export function createChatTranslator(replyModel: string, identity?: ReplyIdentity): StreamTranslator {
  const repair = new ChunkRepair(replyModel, identity);
  // The gateway asks every upstream for the usage: what the client did not ask for is taken out again.
  const isUsageAsked = asksForUsage(identity?.document);
  const recent = new RecentFrames();
  let oddEvents = 0;
  return {
    event({ event, data }: UpstreamEvent, sink: StreamSink): void {
      if (data === "[DONE]") {
        const end = identity === undefined || !sink.committed ? undefined : recent.missingFinish();
        if (end !== undefined) sink.frame(chunkFrame(end), "content");
        sink.done();
        return;
      }
      const mentionsUsage = data.includes('usage"');
      const isNullUsage = mentionsUsage && data.includes(NULL_USAGE);
      const text = repair.text(data);
      const frame = rawFrame(isNullUsage && !isUsageAsked ? withoutNullUsage(text) : text);
      // Inside a string these words would carry a backslash before their quote. Without the first one: quotes are everywhere,
      // and a search for a rarer character is faster.
      const isTelling = event === "error" || (mentionsUsage && !isNullUsage) || data.includes('error"');
      // A cut event lacks its closing brace. Two characters tell; only then is the text parsed.
      const isWhole = data.startsWith("{") && data.endsWith("}");
      if (sink.committed && !isTelling && isWhole && !repair.isSuspect(data)) {
        sink.frame(frame, "content");
        recent.add(frame);
        return;
      }
      const chunk = parse(frame);
      if (chunk === undefined || hasOddChoice(chunk)) {
        // An empty text says nothing: some keep the connection alive by it.
        if (data === "") return;
        if (++oddEvents > MAX_ODD_EVENTS) {
          throw new GatewayError("upstream_invalid_response", "Events of the upstream's stream are no chunks of a reply.");
        }
        sink.dropped?.();
        return;
      }
      const error = errorOf(chunk, event);
      if (error !== undefined) throw readEmbeddedError(error);
      const usage = readUsage(chunk.usage, chunk.service_tier);
      if (usage !== undefined) sink.usage(usage);
      const isUsageOnly = usage !== undefined && Array.isArray(chunk.choices) && chunk.choices.length === 0;
      const whole = repair.chunk(chunk);
      const repaired = isUsageOnly || isUsageAsked ? whole : withoutUsage(whole);
      const made = repaired === chunk ? frame : chunkFrame(repaired);
      if (!isUsageOnly) recent.add(made);
      sink.frame(made, isUsageOnly ? "usage" : hasContent(chunk) ? "content" : "preamble");
    },
  };
}

/** Whether a chunk carries something the client asked for. A role alone, an empty text and a filter report do not count. */
export function hasContent(chunk: JsonObject): boolean {
  const choices = Array.isArray(chunk.choices) ? chunk.choices : [];
  return choices.some((choice) => isObject(choice) && (typeof choice.finish_reason === "string" || hasDelta(choice.delta)));
}

function hasDelta(delta: unknown): boolean {
  if (!isObject(delta)) return false;
  return Object.entries(delta).some(([name, value]) => name !== "role" && value !== null && value !== "" && !isEmptyList(value));
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

/** Whether a choice is no object: what a client would read of it is not there. */
function hasOddChoice({ choices }: JsonObject): boolean {
  return Array.isArray(choices) && !choices.every((choice) => isObject(choice));
}

/** The object of an event, `undefined` when its text is none. */
function parse(frame: Frame): JsonObject | undefined {
  try {
    const chunk: unknown = frame.chunk();
    return isObject(chunk) ? chunk : undefined;
  } catch {
    return undefined;
  }
}

/** The error that an event carries, or is: some say it by the event's name alone, some as a bare text. */
function errorOf(chunk: JsonObject, event: string | undefined): JsonObject | undefined {
  const { error } = chunk;
  if (isObject(error)) return error;
  if (typeof error === "string") return { message: error };
  return event === "error" ? chunk : undefined;
}
