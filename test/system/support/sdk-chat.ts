/**
 * What an application does with chat by the OpenAI SDK: reads a stream, runs the calls of a
 * message.
 */

import type OpenAI from "openai";

/** A request, whole or streamed. */
export type Asked = Omit<
  OpenAI.ChatCompletionCreateParamsNonStreaming,
  "stream" | "stream_options"
>;

/** The chunks of a stream that tells its usage at the end. */
export async function streamChunks(
  client: OpenAI,
  asked: Asked,
): Promise<OpenAI.ChatCompletionChunk[]> {
  return collectChunks(
    await client.chat.completions.create({
      ...asked,
      stream: true,
      stream_options: { include_usage: true },
    }),
  );
}

/** The chunks of a stream. */
export async function collectChunks(
  stream: AsyncIterable<OpenAI.ChatCompletionChunk>,
): Promise<OpenAI.ChatCompletionChunk[]> {
  const chunks: OpenAI.ChatCompletionChunk[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}

/** The text of a stream. */
export function textOf(chunks: readonly OpenAI.ChatCompletionChunk[]): string {
  return chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("");
}

/** The functions that a message calls, in their order; `undefined` for a call that is none. */
export function functionsOf(
  message: OpenAI.ChatCompletionMessage | undefined,
): ({ name: string; arguments: string } | undefined)[] {
  return (message?.tool_calls ?? []).map((call) =>
    call.type === "function" ? call.function : undefined,
  );
}

/** A message and the results of its calls, each the id of its call, the last one first. */
export function withResults(
  message: OpenAI.ChatCompletionMessage | undefined,
): OpenAI.ChatCompletionMessageParam[] {
  if (message === undefined) return [];
  const results = (message.tool_calls ?? []).map(({ id }) => ({
    role: "tool" as const,
    tool_call_id: id,
    content: id,
  }));
  return [message, ...results.toReversed()];
}
