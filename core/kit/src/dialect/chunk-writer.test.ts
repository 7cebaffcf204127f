import type { Frame, FrameRole, StreamSink, Usage } from "@sluice/contract";
import { describe, expect, it } from "vitest";
import { REPLY_MODEL, requestOf } from "@sluice/testing";
import { ChunkWriter, createStreamTranslator } from "./chunk-writer.ts";

function collected(write: (writer: ChunkWriter) => void) {
  const frames: { role: FrameRole; frame: Frame }[] = [];
  const usages: Usage[] = [];
  let dones = 0;
  const sink: StreamSink = {
    committed: false,
    frame: (frame, role) => void frames.push({ role, frame }),
    usage: (usage) => void usages.push(usage),
    done: () => void dones++,
  };
  const writer = new ChunkWriter(
    requestOf({}, { provider: "p", model: "m", operation: "chat", stream: true }),
  );
  writer.into(sink);
  write(writer);
  return {
    chunks: frames.map(({ frame }) => frame.chunk()),
    roles: frames.map(({ role }) => role),
    usages,
    dones,
    frames,
  };
}

describe("a chunk writer", () => {
  it("writes the role once, before everything, as text that needs no second serialisation", () => {
    const { chunks, roles, frames } = collected((writer) => {
      writer.text("");
      writer.reasoning("Hm");
      writer.text('Say "hi"\n');
    });
    expect(roles).toEqual(["preamble", "content", "content"]);
    expect(chunks.map(({ choices }) => (choices as { delta: unknown }[])[0]?.delta)).toEqual([
      { role: "assistant", content: "" },
      { reasoning_content: "Hm" },
      { content: 'Say "hi"\n' },
    ]);
    expect(frames.every(({ frame }) => frame.raw !== undefined)).toBe(true);
    expect(chunks[2]).toMatchObject({
      model: REPLY_MODEL,
      object: "chat.completion.chunk",
      id: "chatcmpl-contract",
    });
  });

  it("gives a thought back as a block at its end, if it was signed", () => {
    const { chunks } = collected((writer) => {
      writer.thought(0, { text: "Let me " });
      writer.thought(1, { text: "unsigned" });
      writer.thought(0, { text: "see." });
      writer.thought(0, { signature: "c2" });
      writer.thought(0, { signature: "ln" });
      for (const key of [0, 1, 2, 0]) writer.thoughtEnd(key);
    });
    expect(
      chunks.slice(1).map(({ choices }) => (choices as { delta: unknown }[])[0]?.delta),
    ).toEqual([
      { reasoning_content: "Let me " },
      { reasoning_content: "unsigned" },
      { reasoning_content: "see." },
      { thinking_blocks: [{ type: "thinking", thinking: "Let me see.", signature: "c2ln" }] },
    ]);
    expect(() =>
      collected((writer) => writer.thought(0, { text: "x".repeat(40_000_000) })),
    ).toThrow("larger than the gateway accepts");
  });

  it("numbers calls by their order, whatever the provider's keys are, and gives arguments to those without", () => {
    const { chunks } = collected((writer) => {
      writer.callStart(4, { id: "a", name: "f" });
      writer.callStart(9, { id: "b", name: "g" });
      writer.callArguments(9, "{}");
      writer.callEnd(4);
      writer.callEnd(9);
      writer.finish("whatever", {});
    });
    const calls = chunks.flatMap(
      ({ choices }) =>
        (choices as { delta: { tool_calls?: unknown[] } }[])[0]?.delta.tool_calls ?? [],
    );
    expect(calls).toEqual([
      { index: 0, id: "a", type: "function", function: { name: "f", arguments: "" } },
      { index: 1, id: "b", type: "function", function: { name: "g", arguments: "" } },
      { index: 1, function: { arguments: "{}" } },
      { index: 0, function: { arguments: "{}" } },
    ]);
    expect(chunks.at(-1)?.choices).toEqual([
      { index: 0, delta: {}, finish_reason: "tool_calls", native_finish_reason: "whatever" },
    ]);
  });

  it("ends once, with the last usage", () => {
    const { roles, usages, dones } = collected((writer) => {
      writer.text("A");
      writer.finish("x", { x: "length" });
      writer.finish("y", {});
      writer.usage({ promptTokens: 1, completionTokens: 1, totalTokens: 2 });
      writer.usage(undefined);
      writer.usage({ promptTokens: 1, completionTokens: 5, totalTokens: 6 });
      writer.done();
      writer.done();
    });
    expect([roles, usages.map(({ totalTokens }) => totalTokens), dones]).toEqual([
      ["preamble", "content", "content", "usage"],
      [6],
      1,
    ]);
  });

  it("fails on an end without a reason, on a call that never began, and beyond its bound", () => {
    expect(() => collected((writer) => writer.done())).toThrow("without a stop reason");
    expect(() => collected((writer) => writer.callArguments(1, "{}"))).toThrow("never began");
    expect(() => collected((writer) => writer.keep("x".repeat(9 * 1024 * 1024)))).toThrow(
      "larger than the gateway accepts",
    );
  });
});

describe("a stream translator", () => {
  it("is notified of the end when its dialect has no end mark, and of a call's extra content", () => {
    const request = requestOf({}, { provider: "p", model: "m", operation: "chat", stream: true });
    const texts: string[] = [];
    let dones = 0;
    const sink: StreamSink = {
      committed: false,
      frame: (frame) => void texts.push(JSON.stringify(frame.chunk())),
      usage() {},
      done: () => void dones++,
    };
    const translator = createStreamTranslator(request, (writer) => ({
      event: ({ data }) =>
        writer.call(0, {
          id: data,
          name: "f",
          arguments: "{}",
          extra: { google: { thought_signature: "s" } },
        }),
      end() {
        writer.finish("STOP", {});
        writer.done();
      },
    }));
    translator.event({ event: undefined, data: "a" }, sink);
    expect(dones).toBe(0);
    translator.end?.(sink);
    expect(dones).toBe(1);
    expect(texts.join()).toContain('"extra_content":{"google":{"thought_signature":"s"}}');
    expect(texts.at(-1)).toContain('"finish_reason":"tool_calls"');
    expect(createStreamTranslator(request, () => () => undefined).end).toBeUndefined();
  });
});
