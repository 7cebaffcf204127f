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
    const writer = new MessageWriter({}, FACE_CONTEXT);
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
    const writer = new MessageWriter({}, FACE_CONTEXT);
    writer.chunk(callOf(0, '{"a":"}', "call_1"));
    expect(writer.chunk(callOf(1, "{}", "call_2"))).toBe("");
    expect(countOf(writer.chunk(callOf(0, '"}\n')), "content_block_start")).toBe(1);
  });
});

describe("the thoughts of a reply", () => {
  const signed = (thinking: string): JsonObject => ({ type: "thinking", thinking, signature: "s" });

  it("may be many in one chunk", () => {
    const writer = new MessageWriter({}, FACE_CONTEXT);
    const blocks = Array.from({ length: 100_000 }, (_, place) => signed(`Thought ${place}.`));
    const text = writer.chunk(chunkOf({ thinking_blocks: blocks })) + writer.end();
    expect(countOf(text, "content_block_stop")).toBe(blocks.length);
  });

  it("may be many that arrive before their signatures", () => {
    const writer = new MessageWriter({}, FACE_CONTEXT);
    let text = "";
    for (let place = 0; place < 20_000; place++) {
      text += writer.chunk(chunkOf({ reasoning_content: `Thought ${place}.` }));
      text += writer.chunk(chunkOf({ content: "Said." }));
    }
    expect(countOf(text, "content_block_start")).toBe(40_000);
    const late = Array.from({ length: 20_000 }, (_, place) => signed(`Thought ${place}.`));
    const rest = writer.chunk(chunkOf({ thinking_blocks: [...late, signed("Another.")] }));
    expect(countOf(rest, "content_block_start")).toBe(1);
    expect(rest).toContain('"thinking":"Another."');
  });

  it("are each signed where two are open", () => {
    const writer = new MessageWriter({}, FACE_CONTEXT);
    // An open call holds back what follows it, so that none of it is closed.
    writer.chunk(callOf(0, "{", "call_1"));
    for (const delta of [{ reasoning_content: "A" }, { content: "B" }, { reasoning_content: "C" }])
      writer.chunk(chunkOf(delta));
    for (const thinking of ["C", "A"])
      writer.chunk(chunkOf({ thinking_blocks: [signed(thinking)] }));
    const text = writer.end();
    expect(countOf(text, "content_block_start")).toBe(3);
    expect(text.split('"signature":"s"').length - 1).toBe(2);
  });
});

describe("the sources of a text", () => {
  const annotations = (count: number): JsonObject => ({
    annotations: Array.from({ length: count }, () => ({
      type: "url_citation",
      url_citation: { url: "https://example.com" },
    })),
  });

  it("may be many that arrive before it, and many in one chunk", () => {
    const writer = new MessageWriter({}, FACE_CONTEXT);
    for (let place = 0; place < 40_000; place++) writer.chunk(chunkOf(annotations(1)));
    writer.chunk(chunkOf(annotations(200_000)));
    const text = writer.chunk(chunkOf({ content: "Said." }));
    expect(text.split('"type":"citations_delta"').length - 1).toBe(240_000);
  });
});
