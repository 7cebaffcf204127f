import type { JsonObject } from "@sluice/contract";
import { faceContract } from "@sluice/testing";
import OpenAI from "openai";
import { describe, it } from "vitest";
import { completions } from "./index.ts";

/** The stream as the SDK reads it, put together. */
async function folded(text: string): Promise<JsonObject> {
  const headers = { "content-type": "text/event-stream" };
  const client = new OpenAI({
    apiKey: "k",
    maxRetries: 0,
    fetch: () => Promise.resolve(new Response(text, { headers })),
  });
  const choices: JsonObject[] = [];
  let reply: JsonObject = {};
  const stream = await client.completions.create({ model: "m", prompt: "Hi", stream: true });
  for await (const { choices: given, ...rest } of stream) {
    reply = { ...reply, ...(rest as unknown as JsonObject) };
    for (const { text: piece, index, logprobs, finish_reason } of given) {
      const before = String(choices[index]?.text ?? "");
      choices[index] = { text: before + piece, index, logprobs: logprobs as null, finish_reason };
    }
  }
  return { ...reply, choices };
}

faceContract({ describe, it }, completions, {
  fixtures: new URL("../fixtures/", import.meta.url),
  request: { model: "contract/model", prompt: "Hi" },
  fold: (_events, text) => folded(text),
});
