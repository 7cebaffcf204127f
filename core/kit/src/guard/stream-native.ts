/** Streams of providers' own APIs: the dialect of each event is told by its shape, whoever sends it. */

import { GatewayError, type JsonObject } from "@sluice/spec";
import { isObject } from "../json/narrow.ts";
import { anthropicStream } from "./stream-anthropic.ts";
import { chatStream } from "./stream-chat.ts";
import { cohereStream } from "./stream-cohere.ts";
import { NOTHING, otherPieces, splitPieces, type StreamDialect, writePieces } from "./stream-dialect.ts";
import { geminiStream } from "./stream-gemini.ts";
import { openaiStream } from "./stream-openai.ts";

const LAST = Object.freeze({ pieces: [], isLast: true });

const ANTHROPIC = /^(?:message_(?:start|delta|stop)|content_block_(?:start|delta|stop)|ping)$/;
const COHERE = /^(?:message|content|tool-plan|tool-call|citation)-(?:start|delta|end)$/;

/**
 * All dialects that are known: OpenAI's chat completions and responses, with whoever speaks like them; Anthropic, Gemini, Cohere. Reading
 * throws `plugin_failed` for an event of another kind that holds text: what it is a piece of, nobody knows.
 */
export const nativeStream: StreamDialect = {
  read(event) {
    const dialect = dialectOf(event);
    if (dialect !== undefined) return dialect.read(event);
    const pieces = otherPieces(event, []);
    // A mark in place of an event is the end.
    if (pieces.length === 0) return Object.keys(event).length === 0 ? LAST : NOTHING;
    // Names of members are judged by themselves, and an error is no piece of a text.
    if (isObject(event.error) || pieces.every(({ isFixed }) => isFixed === true)) return { pieces };
    throw new GatewayError(
      "plugin_failed",
      "The guardrails cannot read the events of this stream: they are of no dialect that is known. Ask without `stream`.",
    );
  },
  write: (event, pieces, texts) => (dialectOf(event)?.write ?? writePieces)(event, pieces, texts),
  split: (event, pieces) => (dialectOf(event)?.split ?? splitPieces)(event, pieces),
};

function dialectOf(event: JsonObject): StreamDialect | undefined {
  const { type } = event;
  if (Array.isArray(event.choices)) return chatStream;
  if (Array.isArray(event.candidates) || isObject(event.promptFeedback) || isObject(event.usageMetadata)) return geminiStream;
  if (typeof type !== "string") return undefined;
  if (type.startsWith("response.")) return openaiStream;
  if (ANTHROPIC.test(type)) return anthropicStream;
  return COHERE.test(type) ? cohereStream : undefined;
}
