/**
 * The stream of the benchmark's upstream in Anthropic's dialect: the same words as in the reference
 * dialect.
 */

import { STREAM_EVENTS, TRANSLATED_MODEL } from "../scenarios.ts";

/** The events of the stream, one text each. */
export function messagesStream(): string[] {
  const event = (type: string, rest: object): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`;
  const message = {
    id: "msg_Bench0000000000000000000001",
    type: "message",
    role: "assistant",
    model: `${TRANSLATED_MODEL}-20251001`,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 33, output_tokens: 1 },
  };
  const words = Array.from({ length: STREAM_EVENTS }, (_, index) =>
    event("content_block_delta", {
      index: 0,
      delta: { type: "text_delta", text: ` word${index}` },
    }),
  );
  return [
    event("message_start", { message }),
    event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
    ...words,
    event("content_block_stop", { index: 0 }),
    event("message_delta", {
      delta: { stop_reason: "end_turn", stop_sequence: null },
      usage: { output_tokens: STREAM_EVENTS },
    }),
    event("message_stop", {}),
  ];
}
