/**
 * The stream of the benchmark's upstream in the dialect of OpenAI's responses: the same words as in
 * the reference dialect.
 */

import { NATIVE_MODEL, STREAM_EVENTS } from "../scenarios.ts";

const ID = "0123456789abcdef0123456789abcdef0123456789abcdef";

/** The events of the stream, one text each. */
export function responsesStream(): string[] {
  let number = 0;
  const event = (type: string, rest: object): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: number++, ...rest })}\n\n`;
  const response = {
    id: `resp_${ID}`,
    object: "response",
    created_at: 1_741_569_952,
    status: "in_progress",
    error: null,
    incomplete_details: null,
    model: `${NATIVE_MODEL}-2025-04-14`,
    output: [],
    store: false,
    usage: null,
  };
  const item = { id: `msg_${ID}`, type: "message", role: "assistant", status: "in_progress" };
  const place = { item_id: item.id, output_index: 0, content_index: 0 };
  const part = { type: "output_text", text: "", annotations: [], logprobs: [] };
  const words = Array.from({ length: STREAM_EVENTS }, (_, index) => ` word${index}`);
  const text = words.join("");
  const done = { ...item, status: "completed", content: [{ ...part, text }] };
  const usage = {
    input_tokens: 33,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: STREAM_EVENTS,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 33 + STREAM_EVENTS,
  };
  return [
    event("response.created", { response }),
    event("response.in_progress", { response }),
    event("response.output_item.added", { output_index: 0, item: { ...item, content: [] } }),
    event("response.content_part.added", { ...place, part }),
    ...words.map((delta, index) =>
      event("response.output_text.delta", {
        ...place,
        delta,
        logprobs: [],
        obfuscation: "abcdefghijklmnop".slice(index % 9),
      }),
    ),
    event("response.output_text.done", { ...place, text, logprobs: [] }),
    event("response.content_part.done", { ...place, part: { ...part, text } }),
    event("response.output_item.done", { output_index: 0, item: done }),
    event("response.completed", {
      response: { ...response, status: "completed", output: [done], usage },
    }),
  ];
}
