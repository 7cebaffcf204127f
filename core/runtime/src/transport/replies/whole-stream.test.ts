import { describe, expect, it } from "vitest";
import type { JsonObject } from "@sluice/contract";
import { wholeAsStream } from "./whole-stream.ts";

const call = { id: "call_1", type: "function", function: { name: "f", arguments: "{}" } };
const message = { role: "assistant", content: "Hello", tool_calls: [call] };
const reply: JsonObject = {
  id: "c",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, message, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};

async function chunks(includeUsage: boolean): Promise<JsonObject[]> {
  const found: JsonObject[] = [];
  for await (const frame of wholeAsStream(reply, includeUsage).frames) found.push(frame.chunk());
  return found;
}

describe("a whole reply as a stream", () => {
  it("is one chunk, whose tool calls have an index", async () => {
    expect(await chunks(false)).toEqual([
      {
        id: "c",
        object: "chat.completion.chunk",
        created: 1,
        model: "m",
        choices: [
          {
            index: 0,
            delta: { ...message, tool_calls: [{ index: 0, ...call }] },
            finish_reason: "stop",
          },
        ],
      },
    ]);
  });

  it("tells its usage to those who asked", async () => {
    expect((await chunks(true))[1]).toEqual({
      id: "c",
      object: "chat.completion.chunk",
      created: 1,
      model: "m",
      choices: [],
      usage: reply.usage,
    });
  });
});
