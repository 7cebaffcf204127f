/** Streams of nearly compatible upstreams: only chunks that may need a repair are parsed. */

import type {
  Frame,
  JsonObject,
  JsonValue,
  ProviderRequest,
  StreamSink,
  StreamTranslator,
  UpstreamEvent,
} from "@sluice/contract";
import { isObject } from "../../json/narrow.ts";
import { jsonIn } from "../../json/parse.ts";
import { checkChunk } from "../../dialect/reply-bounds.ts";
import { ChunkRepairer, type OwnFinishReasons } from "./chunk-repairs.ts";
import { ThoughtRename } from "./thought-rename.ts";
import { splitCalls } from "./split-calls.ts";
import { createChatTranslator } from "../stream.ts";
import { readUsage } from "../usage.ts";

/** Marks of every known deviation. Inside a JSON string each of these would have a backslash. */
const DEVIATION = /"(?:reasoning|tool_calls|usage|x_groq|error)":\s*["[{]|"finish_reason":\s*"/;

/** A translator for one repaired stream. */
export function createRepairedTranslator(
  request: ProviderRequest,
  reasons: OwnFinishReasons = {},
): StreamTranslator {
  return new RepairedTranslator(request, reasons);
}

/**
 * Repairs chunks before the inner translator reads them. Some upstreams send the usage together
 * with content (Perplexity in every chunk; DeepSeek, Groq and xAI with the finish; OpenRouter after
 * it). It then goes into a chunk of its own after the finish, as in the reference dialect. Earlier
 * usages are partial.
 */
class RepairedTranslator implements StreamTranslator {
  readonly #inner: StreamTranslator;
  readonly #repairer: ChunkRepairer;
  readonly #thoughts = new ThoughtRename();
  #isFinished = false;
  /** The latest usage, as a chunk, until the finish. */
  #pending: JsonObject | undefined;
  /** The usage that was written last, as text. */
  #reported: string | undefined;

  constructor(request: ProviderRequest, reasons: OwnFinishReasons) {
    this.#inner = createChatTranslator(request.replyModel, request);
    this.#repairer = new ChunkRepairer(reasons, request.replyId);
  }

  repeated(last: Frame, count: number, data: string): void {
    this.#inner.repeated?.(last, count, data);
  }

  event(event: UpstreamEvent, sink: StreamSink): void {
    if (this.#pending !== undefined && event.data === "[DONE]")
      this.#report({ event: undefined, data: "" }, this.#pending, sink);
    const renamed = this.#thoughts.renamed(event.data);
    if (renamed !== undefined) {
      this.#inner.event({ ...event, data: renamed }, sink);
      return;
    }
    const chunk = DEVIATION.test(event.data) ? parsed(event.data) : undefined;
    if (chunk === undefined) this.#inner.event(event, sink);
    else this.#chunk(event, chunk, sink);
  }

  #chunk(event: UpstreamEvent, chunk: JsonObject, sink: StreamSink): void {
    // Each call becomes a chunk of its own.
    checkChunk(chunk);
    const repaired = this.#repairer.repair({ value: chunk, bytes: event.data });
    const { usage, ...content } = repaired;
    const choices = Array.isArray(repaired.choices) ? repaired.choices : undefined;
    this.#isFinished ||= choices?.some(hasFinish) === true;
    if (choices === undefined || !isObject(usage)) {
      this.#write(event, repaired, sink, repaired === chunk);
      return;
    }
    if (choices.length === 0) {
      this.#report(event, repaired, sink);
      return;
    }
    this.#write(event, content, sink, false);
    const { id, object, created, model } = content;
    this.#pending = { id, object, created, model, choices: [], usage };
    if (this.#isFinished) this.#report(event, this.#pending, sink);
  }

  /** Writes a chunk of usage, unless it is the one that was written last. */
  #report(event: UpstreamEvent, chunk: JsonObject, sink: StreamSink): void {
    this.#pending = undefined;
    const text = JSON.stringify(readUsage(chunk.usage));
    if (text === this.#reported) return;
    this.#reported = text;
    this.#inner.event({ ...event, data: JSON.stringify(chunk) }, sink);
  }

  #write(event: UpstreamEvent, chunk: JsonObject, sink: StreamSink, isAsItCame: boolean): void {
    const parts = splitCalls(chunk);
    if (isAsItCame && parts.length === 1) this.#inner.event(event, sink);
    else
      for (const part of parts) this.#inner.event({ ...event, data: JSON.stringify(part) }, sink);
  }
}

function hasFinish(choice: JsonValue): boolean {
  return isObject(choice) && typeof choice.finish_reason === "string";
}

function parsed(data: string): JsonObject | undefined {
  const value = jsonIn(data);
  return isObject(value) ? value : undefined;
}
