/**
 * Streams of Azure OpenAI: those of the reference dialect, with reports of the content filter
 * between (learn.microsoft.com/azure/ai-services/openai/concepts/content-streaming, "Sample
 * response stream"). A report has no name, time or model, and its choice no delta: clients read
 * what every chunk has.
 */

import { isObject } from "@sluice/kit";
import { Members } from "@sluice/kit/dialect";
import { createChatTranslator } from "@sluice/kit/openai";
import type {
  JsonObject,
  JsonValue,
  ProviderRequest,
  StreamSink,
  StreamTranslator,
} from "@sluice/contract";

/** Every chunk of the model has it; a report has an empty one. */
const CHUNK = '"object":"chat.completion.chunk"';
/** Reports that wait for the first chunk with a name; there is one before each prompt. */
const MAX_WAITING = 8;

/**
 * A translator for one stream. Reports before the first chunk wait for it, so that they carry its
 * id.
 */
export function translateStream(request: ProviderRequest): StreamTranslator {
  const inner = createChatTranslator(request.replyModel, request);
  let names: JsonObject | undefined;
  const waiting: JsonObject[] = [];
  const release = (sink: StreamSink): void => {
    for (const report of waiting.splice(0)) {
      inner.event(
        {
          event: undefined,
          data: JSON.stringify({ ...report, ...names, object: "chat.completion.chunk" }),
        },
        sink,
      );
    }
  };
  return {
    repeated: (last, count, data) => inner.repeated?.(last, count, data),
    event(event, sink) {
      const { data } = event;
      const isChunk = data.includes(CHUNK);
      if (isChunk && names !== undefined) {
        inner.event(event, sink);
        return;
      }
      const value = Members.parse(data);
      if (value === undefined || value.error !== undefined) {
        release(sink);
        inner.event(event, sink);
        return;
      }
      const { id, created, model } = value;
      if (typeof id === "string" && id !== "") {
        names ??= { id, created: created ?? 0, model: model ?? "" };
        release(sink);
      } else if (isChunk) {
        names ??= {};
        release(sink);
      } else if (names === undefined && waiting.length < MAX_WAITING) {
        waiting.push(withDeltas(value));
        return;
      }
      if (isChunk) inner.event(event, sink);
      else
        inner.event(
          {
            ...event,
            data: JSON.stringify({
              ...withDeltas(value),
              ...names,
              object: "chat.completion.chunk",
            }),
          },
          sink,
        );
    },
  };
}

function withDeltas(chunk: JsonObject): JsonObject {
  const { choices } = chunk;
  if (!Array.isArray(choices) || choices.length === 0)
    return { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: null }] };
  return {
    ...chunk,
    choices: choices.map((choice: JsonValue) =>
      isObject(choice) && !isObject(choice.delta) ? { ...choice, delta: {} } : choice,
    ),
  };
}
