/** Texts in OpenAI's own events: chunks of chat completions, and the events of responses. */

import type { JsonObject, TextPart } from "@sluice/contract";
import { withoutTokens } from "@sluice/kit/internals";
import { chatStream } from "./chat.ts";
import { NOTHING, otherPieces, type StreamDialect } from "./dialect.ts";
import { splitPieces, writePieces } from "./pieces.ts";

/** The channel of a `response.….delta` event's text (platform.openai.com, responses streaming). */
const RESPONSE_DELTAS: Readonly<Record<string, TextPart>> = {
  "response.output_text.delta": "content",
  "response.refusal.delta": "refusal",
  "response.function_call_arguments.delta": "arguments",
  "response.custom_tool_call_input.delta": "arguments",
  "response.reasoning_text.delta": "reasoning",
  "response.reasoning_summary_text.delta": "reasoning",
  "response.audio.transcript.delta": "content",
  "response.mcp_call_arguments.delta": "arguments",
  "response.code_interpreter_call_code.delta": "arguments",
};

/** Deltas of texts that are JSON. */
const JSON_DELTAS = new Set([
  "response.function_call_arguments.delta",
  "response.mcp_call_arguments.delta",
]);

/** The events that end a response. */
const ENDS = new Set(["response.completed", "response.incomplete", "response.failed"]);

/**
 * OpenAI's own streams: chunks of chat completions, and the events of responses, whose later events
 * repeat the texts whole.
 */
export const openaiStream: StreamDialect = {
  divide: (event) => (typeof event.type === "string" ? undefined : chatStream.divide?.(event)),
  read(event) {
    if (typeof event.type !== "string" || !event.type.startsWith("response."))
      return chatStream.read(event);
    const { type, item_id: item, content_index: content, summary_index: summary, delta } = event;
    const channel = `${String(item)}/${String(content ?? summary ?? 0)}/`;
    const part = RESPONSE_DELTAS[type];
    if (part !== undefined && typeof delta === "string")
      return delta === ""
        ? NOTHING
        : {
            pieces: [
              { channel, part, path: ["delta"], text: delta, isJson: JSON_DELTAS.has(type) },
            ],
          };
    const pieces = otherPieces(event, []);
    if (ENDS.has(type)) return { pieces, ends: "" };
    if (type.endsWith(".done") && typeof item === "string") return { pieces, ends: `${item}/` };
    return pieces.length === 0 ? NOTHING : { pieces };
  },
  write(event, pieces, texts) {
    if (typeof event.type !== "string") return chatStream.write(event, pieces, texts);
    return withoutTokens(writePieces(event, pieces, texts)) as JsonObject;
  },
  split(event, pieces) {
    return typeof event.type === "string"
      ? splitPieces(event, pieces)
      : chatStream.split(event, pieces);
  },
};
