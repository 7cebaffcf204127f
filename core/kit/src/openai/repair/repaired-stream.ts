/** Streams of nearly compatible upstreams: only chunks that may need a repair are parsed. */

import type {
  JsonObject,
  ProviderRequest,
  StreamSink,
  StreamTranslator,
  UpstreamEvent,
} from "@sluice/contract";
import { isObject } from "../../json/narrow.ts";
import { ChunkRepairer, type OwnFinishReasons } from "./chunk-repairs.ts";
import { ThoughtRename } from "./thought-rename.ts";
import { splitCalls } from "./split-calls.ts";
import { createChatTranslator } from "../stream.ts";
import { readUsage } from "../usage.ts";

/** Marks of every known deviation. Inside a JSON string each of these would have a backslash. */
const DEVIATION = /"(?:reasoning|tool_calls|usage|x_groq|error)":\s*["[{]|"finish_reason":\s*"/;

/**
 * A translator for one repaired stream. Some upstreams send the usage together with content
 * (Perplexity in every chunk; DeepSeek, Groq and xAI with the finish; OpenRouter after it). It then
 * goes into a chunk of its own after the finish, as in the reference dialect. Earlier usages are
 * partial.
 */
export function createRepairedTranslator(
  request: ProviderRequest,
  reasons: OwnFinishReasons = {},
): StreamTranslator {
  const inner = createChatTranslator(request.replyModel, request);
  const repairer = new ChunkRepairer(reasons, request.replyId);
  const thoughts = new ThoughtRename();
  let isFinished = false;
  let pending: JsonObject | undefined;
  let reported: string | undefined;
  const report = (event: UpstreamEvent, chunk: JsonObject, sink: StreamSink): void => {
    pending = undefined;
    const text = JSON.stringify(readUsage(chunk.usage));
    if (text === reported) return;
    reported = text;
    inner.event({ ...event, data: JSON.stringify(chunk) }, sink);
  };
  const write = (
    event: UpstreamEvent,
    chunk: JsonObject,
    sink: StreamSink,
    isAsItCame: boolean,
  ): void => {
    const parts = splitCalls(chunk);
    if (isAsItCame && parts.length === 1) inner.event(event, sink);
    else for (const part of parts) inner.event({ ...event, data: JSON.stringify(part) }, sink);
  };
  return {
    repeated: (last, count, data) => inner.repeated?.(last, count, data),
    event(event, sink) {
      if (pending !== undefined && event.data === "[DONE]")
        report({ event: undefined, data: "" }, pending, sink);
      const renamed = thoughts.renamed(event.data);
      if (renamed !== undefined) {
        inner.event({ ...event, data: renamed }, sink);
        return;
      }
      const chunk = DEVIATION.test(event.data) ? parsed(event.data) : undefined;
      if (chunk === undefined) {
        inner.event(event, sink);
        return;
      }
      const repaired = repairer.repair(chunk);
      const { usage, ...content } = repaired;
      const choices = Array.isArray(repaired.choices) ? repaired.choices : undefined;
      isFinished ||=
        choices?.some((choice) => isObject(choice) && typeof choice.finish_reason === "string") ===
        true;
      if (choices === undefined || !isObject(usage)) {
        write(event, repaired, sink, repaired === chunk);
        return;
      }
      if (choices.length === 0) {
        report(event, repaired, sink);
        return;
      }
      write(event, content, sink, false);
      const { id, object, created, model } = content;
      pending = { id, object, created, model, choices: [], usage };
      if (isFinished) report(event, pending, sink);
    },
  };
}

function parsed(data: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(data);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
