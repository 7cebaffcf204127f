/** Streams whose calls interleave, and those that an upstream makes large. */

import type { FaceStream, JsonObject } from "@sluice/contract";
import { Members } from "@sluice/kit/dialect";
import { describe, expect, it } from "vitest";
import { CONTEXT, FACE, read } from "../face.fixture.ts";

function writer(members: JsonObject = {}): FaceStream {
  return FACE.stream(
    read({ model: "contract/model", input: "Hello.", stream: true, ...members }).state,
    CONTEXT,
  );
}

function chunkOf(delta: JsonObject, finish?: string): JsonObject {
  return { choices: [{ index: 0, delta, finish_reason: finish ?? null }] };
}

function callOf(index: number, args: string, isFirst = false): JsonObject {
  const call = isFirst
    ? { index, id: `call_${index}`, function: { name: "look", arguments: args } }
    : { index, function: { arguments: args } };
  return chunkOf({ tool_calls: [call] });
}

/** The items of the last event: arguments of calls, and types of the others. */
function endOf(stream: FaceStream, finish = "tool_calls"): readonly unknown[] {
  stream.chunk(chunkOf({}, finish));
  const data = stream.end().split("\ndata: ").at(-1) ?? "";
  const { response } = JSON.parse(data) as { readonly response: JsonObject };
  return Members.objectsOf(response.output).map((item) => item.arguments ?? item.type);
}

describe("pieces of calls that interleave", () => {
  it("are written in the order in which their calls begin", () => {
    const stream = writer();
    for (const chunk of [
      callOf(0, '{"a":', true),
      callOf(1, '{"b":', true),
      callOf(2, "{", true),
      chunkOf({ content: "Said." }),
      callOf(1, "1}"),
      callOf(2, "}"),
      callOf(0, "0}"),
    ])
      stream.chunk(chunk);
    expect(endOf(stream)).toEqual(['{"a":0}', '{"b":1}', "{}", "message"]);
  });

  it("are apart from texts where a call has a negative index", () => {
    const stream = writer();
    stream.chunk(callOf(-1, "{", true));
    stream.chunk(chunkOf({ content: "Said." }));
    stream.chunk(callOf(-1, "}"));
    expect(endOf(stream)).toEqual(["{}", "message"]);
  });

  it("may be many, none of them whole", () => {
    const stream = writer();
    for (let index = 0; index < 4_096; index++) stream.chunk(callOf(index, "{", true));
    expect(endOf(stream)).toHaveLength(4_096);
  });

  it("are refused beyond what one turn of the event loop writes", () => {
    const calls = writer();
    for (let index = 0; index < 4_096; index++) calls.chunk(callOf(index, "{", true));
    calls.chunk(callOf(4_096, "{", true));
    expect(() => endOf(calls)).toThrow("The upstream's reply has more than 4096 calls.");
    const pieces = writer();
    pieces.chunk(callOf(0, "{", true));
    const add = (): string => pieces.chunk(callOf(1, "1", true));
    for (let piece = 0; piece < 16_384; piece++) add();
    expect(add).toThrow("more than 16384 pieces behind an open call");
  });

  it("may be many that end one after the other", () => {
    const stream = writer();
    for (let index = 0; index < 4_000; index++) stream.chunk(callOf(index, "{", true));
    for (let index = 3_999; index >= 0; index--) stream.chunk(callOf(index, "}"));
    expect(endOf(stream)).toEqual(Array.from({ length: 4_000 }, () => "{}"));
  });

  it("are read once, however long the arguments are", () => {
    const stream = writer();
    stream.chunk(callOf(0, `{"a":[${"{},".repeat(300_000)}{}}`, true));
    stream.chunk(callOf(1, "{}", true));
    for (let piece = 0; piece < 10_000; piece++) stream.chunk(callOf(0, "}"));
    expect(endOf(stream)).toHaveLength(2);
  });
});

describe("what an upstream needs back of a stream", () => {
  it("may arrive in many chunks", () => {
    const stream = writer();
    for (let place = 0; place < 20_000; place++)
      stream.chunk(chunkOf({ extra_content: { [`member ${place}`]: place } }));
    expect(endOf(stream, "stop")).toEqual(["reasoning"]);
  });
});

describe("the log probabilities of a text", () => {
  it("may be many in one chunk", () => {
    const stream = writer({ include: ["message.output_text.logprobs"], top_logprobs: 1 });
    const content = Array.from({ length: 200_000 }, () => ({}));
    const { choices } = chunkOf({ content: "Said." });
    const [choice = {}] = Members.objectsOf(choices);
    stream.chunk({ choices: [{ ...choice, logprobs: { content } }] });
    expect(endOf(stream, "stop")).toEqual(["message"]);
  });
});
