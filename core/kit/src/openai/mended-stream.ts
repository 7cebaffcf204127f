/** Streams of upstreams that speak the reference dialect almost: only chunks in which something may be odd are looked into. */

import type { JsonObject, ProviderRequest, StreamSink, StreamTranslator, UpstreamEvent } from "@sluice/spec";
import { isObject } from "../json/narrow.ts";
import { Mender, type OwnFinishReasons } from "./mender.ts";
import { ThoughtRename } from "./thought-rename.ts";
import { splitCalls } from "./split-calls.ts";
import { createChatTranslator } from "./stream.ts";
import { readUsage } from "./usage.ts";

/** What any oddity shows itself by. Inside of a string each of these would carry a backslash. */
const TELLING = /"(?:reasoning|tool_calls|usage|x_groq|error)":\s*["[{]|"finish_reason":\s*"/;

/**
 * A translator for one stream that is mended on the way. A usage that comes with content (Perplexity in every chunk; DeepSeek, Groq
 * and xAI with the finish; OpenRouter behind it) goes into a chunk of its own behind the finish, as the dialect has it: what came
 * before was a part of it.
 */
export function createMendedTranslator(request: ProviderRequest, reasons: OwnFinishReasons = {}): StreamTranslator {
  const inner = createChatTranslator(request.replyModel, request);
  const mender = new Mender(reasons, request.replyId);
  const thoughts = new ThoughtRename();
  let isFinished = false;
  let pending: JsonObject | undefined;
  let told: string | undefined;
  const tell = (event: UpstreamEvent, chunk: JsonObject, sink: StreamSink): void => {
    pending = undefined;
    const text = JSON.stringify(readUsage(chunk.usage));
    if (text === told) return;
    told = text;
    inner.event({ ...event, data: JSON.stringify(chunk) }, sink);
  };
  const write = (event: UpstreamEvent, chunk: JsonObject, sink: StreamSink, isAsItCame: boolean): void => {
    const parts = splitCalls(chunk);
    if (isAsItCame && parts.length === 1) inner.event(event, sink);
    else for (const part of parts) inner.event({ ...event, data: JSON.stringify(part) }, sink);
  };
  return {
    event(event, sink) {
      if (pending !== undefined && event.data === "[DONE]") tell({ event: undefined, data: "" }, pending, sink);
      const renamed = thoughts.renamed(event.data);
      if (renamed !== undefined) {
        inner.event({ ...event, data: renamed }, sink);
        return;
      }
      const chunk = TELLING.test(event.data) ? parsed(event.data) : undefined;
      if (chunk === undefined) {
        inner.event(event, sink);
        return;
      }
      const mended = mender.mend(chunk);
      const { usage, ...content } = mended;
      const choices = Array.isArray(mended.choices) ? mended.choices : undefined;
      isFinished ||= choices?.some((choice) => isObject(choice) && typeof choice.finish_reason === "string") === true;
      if (choices === undefined || !isObject(usage)) {
        write(event, mended, sink, mended === chunk);
        return;
      }
      if (choices.length === 0) {
        tell(event, mended, sink);
        return;
      }
      write(event, content, sink, false);
      const { id, object, created, model } = content;
      pending = { id, object, created, model, choices: [], usage };
      if (isFinished) tell(event, pending, sink);
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
