/** Streams of providers' own APIs: the form of each event identifies its dialect. */

import { GatewayError, type JsonObject } from "@sluice/contract";
import { isObject } from "@sluice/kit";
import { anthropicStream } from "./anthropic.ts";
import { chatStream } from "./chat.ts";
import { cohereStream } from "./cohere.ts";
import { NOTHING, otherPieces, type StreamDialect } from "./dialect.ts";
import { geminiStream } from "./gemini.ts";
import { openaiStream } from "./openai.ts";
import { splitPieces, writePieces } from "./pieces.ts";

const LAST = Object.freeze({ pieces: [], isLast: true });

const ANTHROPIC = /^(?:message_(?:start|delta|stop)|content_block_(?:start|delta|stop)|ping)$/;
const COHERE = /^(?:message|content|tool-plan|tool-call|citation)-(?:start|delta|end)$/;

/**
 * All supported dialects: OpenAI's chat completions and responses, and compatible ones; Anthropic,
 * Gemini, Cohere. Reading throws `plugin_failed` for any other event with text: its channel is
 * unknown.
 */
export const nativeStream: StreamDialect = {
  divide: (event) => dialectOf(event)?.divide?.(event),
  read(event) {
    const dialect = dialectOf(event);
    if (dialect !== undefined) return dialect.read(event);
    const pieces = otherPieces(event, []);
    // A mark in place of an event is the end.
    if (pieces.length === 0) return Object.keys(event).length === 0 ? LAST : NOTHING;
    // Names of members are checked separately, and an error is not a piece of a text.
    if (isObject(event.error) || pieces.every(({ isFixed }) => isFixed === true)) return { pieces };
    throw new GatewayError(
      "plugin_failed",
      "The guardrails cannot read the events of this stream: their dialect is unknown. Send the request without `stream`.",
    );
  },
  write: (event, pieces, texts) => (dialectOf(event)?.write ?? writePieces)(event, pieces, texts),
  split: (event, pieces) => (dialectOf(event)?.split ?? splitPieces)(event, pieces),
};

function dialectOf(event: JsonObject): StreamDialect | undefined {
  const { type } = event;
  if (Array.isArray(event.choices)) return chatStream;
  if (
    Array.isArray(event.candidates) ||
    isObject(event.promptFeedback) ||
    isObject(event.usageMetadata)
  )
    return geminiStream;
  if (typeof type !== "string") return undefined;
  if (type.startsWith("response.")) return openaiStream;
  if (ANTHROPIC.test(type)) return anthropicStream;
  return COHERE.test(type) ? cohereStream : undefined;
}
