/** Streams that an upstream makes large. */

import type { JsonObject } from "@sluice/contract";
import { FACE_CONTEXT } from "@sluice/testing";
import { describe, expect, it } from "vitest";
import { MessageWriter } from "./stream.ts";

function chunkOf(delta: JsonObject): JsonObject {
  return { choices: [{ index: 0, delta }] };
}

function callOf(index: number, args: string, id?: string): JsonObject {
  const made = id === undefined ? { arguments: args } : { name: "look", arguments: args };
  return chunkOf({ tool_calls: [{ index, ...(id === undefined ? {} : { id }), function: made }] });
}

/** The number of events of this type. */
function countOf(text: string, type: string): number {
  return text.split(`event: ${type}\n`).length - 1;
}

describe("a call whose arguments are not whole", () => {
  it("holds back the next one, in however many pieces that arrives", () => {
    const writer = new MessageWriter(FACE_CONTEXT);
    const begin = writer.chunk(callOf(0, `{"a":[${"{},".repeat(300_000)}{}}`, "call_1"));
    expect(countOf(begin, "content_block_start")).toBe(1);
    let held = writer.chunk(callOf(1, "{", "call_2"));
    for (let piece = 0; piece < 10_000; piece++) held += writer.chunk(callOf(1, " "));
    expect(held).toBe("");
    const end = writer.end();
    expect(countOf(end, "content_block_start")).toBe(1);
    expect(countOf(end, "content_block_stop")).toBe(2);
  });

  it("lets the next one begin when they are", () => {
    const writer = new MessageWriter(FACE_CONTEXT);
    writer.chunk(callOf(0, '{"a":"}', "call_1"));
    expect(writer.chunk(callOf(1, "{}", "call_2"))).toBe("");
    expect(countOf(writer.chunk(callOf(0, '"}\n')), "content_block_start")).toBe(1);
  });
});
